import Testing

@Suite(.serialized) struct SwiftTokensTests {
    @Test(
        "Code is cut into words and characters, without comments and string literals",
        arguments: [
            ("a.b(c)", "a . b ( c )"), ("@main #if a_1 $0 é", "@main #if a_1 $0 é"), ("`a b`.c", "`a b` . c"),
            ("a // b\nc", "a c"), ("a /* b */ c", "a c"), ("a /* b /* c */ d */ e", "a e"), ("a/*b*/c", "a c"),
            ("a /* b", "a"), ("a = b / c * d", "a = b / c * d"),
            (#"a "b" c"#, "a c"), (#"a "" c"#, "a c"), (#"a "b\"c" d"#, "a d"), (#"a "b\\" c"#, "a c"),
            (#"a "b // c" d"#, "a d"), (#"a "b /* c" d"#, "a d"), ("a \"b\nc", "a c"),
            (#"a "b \(c) d" e"#, "a ( c ) e"), (#"a "\(b("c"))" d"#, "a ( b ( ) ) d"),
            (#"a "\(b("\(c)"))" d"#, "a ( b ( ( c ) ) ) d"), (#"a "\\(b)" c"#, "a c"),
            ("a #\"b\\(c)\"d\"# e", "a e"), ("a #\"b\\#(c)\"# e", "a ( c ) e"), ("a ##\"b\"#c\"## e", "a e"),
            ("a \"\"\"\nb \"c\" \\(d)\n\"\"\" e", "a ( d ) e"), ("a #\"\"\"\nb \"\"\" \\(d)\n\"\"\"# e", "a e"),
            ("a \"\"\"\nb \\\"\"\" c\n\"\"\" d", "a d"), ("", ""), ("\"", ""), ("#", "#"), ("\\", "\\"), ("`", "`"),
        ])
    func tokens(_ code: String, _ expected: String) {
        #expect(SwiftTokens.tokens(of: code).map(\.text).joined(separator: " ") == expected)
    }

    @Test("Lines are counted through comments and string literals")
    func lines() {
        let code = "a\n// b\n/* c\n*/ d\n\"\"\"\n e \\(\n f)\n\"\"\" g\n\"h\" i"
        let tokens = SwiftTokens.tokens(of: code)
        #expect(tokens.map(\.text) == ["a", "d", "(", "f", ")", "g", "i"])
        #expect(tokens.map(\.line) == [1, 4, 6, 7, 7, 8, 9])
    }
}
