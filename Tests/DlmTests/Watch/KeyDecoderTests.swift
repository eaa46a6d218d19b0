import Testing

@testable import dlm

@Suite("The keys of a terminal")
struct KeyDecoderTests {
    /// Bytes and the keys that they mean.
    static let cases: [(String, [Key])] = [
        ("aé東", [.character("a"), .character("é"), .character("東")]),
        ("\r\n\t\u{7F}\u{8}\u{15}", [.enter, .enter, .tab, .backspace, .backspace, .deleteLine]),
        ("\u{1B}[A\u{1B}[B\u{1B}OA\u{1B}OB", [.up, .down, .up, .down]),
        ("\u{1B}[5~\u{1B}[6~\u{1B}[1;5A", [.pageUp, .pageDown, .up]),
        ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", [.home, .end, .home, .end, .home, .end]),
        ("\u{1B}OH\u{1B}OF\u{1B}OM", [.home, .end, .enter]),
        ("\u{1B}[<64;10;20M\u{1B}[<65;1;1M\u{1B}[<0;1;1M\u{1B}[<0;1;1mq", [.wheelUp, .wheelDown, .character("q")]),
        ("\u{1B}[200~d\r\u{1B}[A\u{1B}y\u{1B}[201~q", [.paste("d\r\u{1B}[A\u{1B}y"), .character("q")]),
        ("\u{1B}\u{1B}[A", [.escape, .up]),
        // Keys and answers of the terminal that mean nothing here; none of their letters is a key.
        ("\u{1B}[15~\u{1B}[200;d\u{1B}[A", [.up]),
        ("\u{1B}]11;rgb:dddd/cccc/pppp\u{7}\u{1B}P1$rq\u{1B}\\q", [.character("q")]),
        ("\u{1B}pd\u{1}\u{0}", [.character("d")]),
    ]

    @Test("Each sequence means its key, in one piece and byte by byte", arguments: cases)
    func keys(_ text: String, _ keys: [Key]) {
        var whole = KeyDecoder()
        #expect(whole.decode(text.utf8) == keys)
        var split = KeyDecoder()
        #expect(text.utf8.flatMap { split.decode([$0]) } == keys)
        #expect(!split.isWaiting)
    }

    @Test("An ESC alone is the Escape key after a pause, and only then")
    func escape() {
        var decoder = KeyDecoder()
        #expect(decoder.timeOut() == nil)
        #expect(decoder.decode([0x1B]) == [])
        #expect(decoder.isWaiting)
        #expect(decoder.timeOut() == .escape)
        #expect(!decoder.isWaiting)
        // Alt with a letter that could begin a sequence.
        for letter in ["P", "]", "_", "O", "["] {
            #expect(decoder.decode("\u{1B}\(letter)".utf8).isEmpty && decoder.isInside)
            #expect(decoder.timeOut() == nil)
            #expect(decoder.decode("q".utf8) == [.character("q")])
        }
        #expect(decoder.decode("[A".utf8) == [.character("["), .character("A")])
    }

    @Test("Bytes that are no UTF-8, and characters that would change the screen, are no keys")
    func invalid() {
        var decoder = KeyDecoder()
        #expect(
            decoder.decode([0xC3, 0x61, 0xFF, 0x80, 0xE2, 0x28, 0x62]) == [
                .character("a"), .character("("), .character("b"),
            ])
        #expect(decoder.decode("\u{202E}\u{9B}x".utf8) == [.character("x")])
    }

    @Test("A paste without an end does not use more memory than the longest paste, and its end is still found")
    func longPaste() {
        var decoder = KeyDecoder()
        #expect(decoder.decode("\u{1B}[200~".utf8) == [])
        #expect(decoder.decode([UInt8](repeating: 0x61, count: 1 << 20)) == [])
        let keys = decoder.decode("bbbbbbbbbbbbbbbb\u{1B}[201~q".utf8)
        #expect(keys.count == 2 && keys.last == .character("q"))
        if case .paste(let text) = keys.first { #expect(text == String(repeating: "a", count: 1 << 20)) }
        if case .paste = keys.first {} else { Issue.record("no paste: \(keys)") }
    }
}
