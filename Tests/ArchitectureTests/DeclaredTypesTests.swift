import Testing

@Suite struct DeclaredTypesTests {
    private func types(_ text: String) -> [DeclaredType] {
        DeclaredTypes.of(SourceFile(path: "Sources/DownloadCore/A.swift", text: text))
    }

    @Test("Types are found with the names of the types around them, and extensions by the name of the type they extend")
    func names() {
        let found = types(
            """
            public struct A<T>: B where T == Int {
                enum C { case d; final class E {} }
                class func f() { struct G {} }
            }
            extension A.C: H {}
            actor I {}
            let kind = "struct J {}"
            """)
        #expect(found.map(\.name) == ["A", "A.C", "A.C.E", "G", "A.C", "I"])
        #expect(found.map(\.line) == [1, 2, 2, 3, 5, 6])
        #expect(found.map(\.length) == [4, 1, 1, 1, 1, 1])
    }

    @Test("The lines of a type are those of all its declarations and extensions in a module, with the types in it")
    func largest() {
        let files = [
            SourceFile(path: "Sources/C/1.swift", text: "struct A {\n    enum B {\n    }\n}\nextension A.B {\n}"),
            SourceFile(path: "Sources/C/2.swift", text: "extension A {\n}\nstruct D {\n\n}"),
            SourceFile(path: "Sources/E/1.swift", text: "extension A {\n}"),
        ]
        #expect(LargeTypes.largest(2, of: files) == ["C.A": 8, "C.D": 3])
        #expect(LargeTypes.largest(1, of: files) == ["C.A": 8])
    }
}
