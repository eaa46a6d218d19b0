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
    }

    @Test(
        "Only stored properties count",
        arguments: [
            ("var a: Int", 1), ("let a = 1", 1), ("private(set) lazy var a = { 1 }()", 1), ("weak var a: B?", 1),
            ("@State(1) var a: [Int: (Int, Int)]", 1), ("var a = 1 { didSet { b() } }", 1),
            ("var a: Int { didSet { b() } }", 1), ("var (a, b) = (0, 0)", 2), ("let a: @Sendable (Int) -> Void", 1),
            ("var a: Int { 1 }", 0), ("var a: Int {\n get { 1 }\n set {}\n}", 0), ("static let a = 1", 0),
            ("class var a: Int { 1 }", 0), ("var a: [Int: Int] { [:] }", 0), ("func f() { let a = 1 }", 0),
            ("init() { if let a = b { var c = a } }", 0), ("var a: Int\nvar b: Int { 1 }", 1),
            ("let a: any B\nfunc f() {}", 1),
        ])
    func stored(_ member: String, _ count: Int) {
        #expect(types("struct A {\n\(member)\n}").first?.stored == count)
    }

    @Test("A type that is spread over five files of a module is found, with its files")
    func scattered() {
        func files(_ count: Int, _ module: String) -> [SourceFile] {
            (0..<count).map { SourceFile(path: "Sources/\(module)/\($0).swift", text: "extension A { struct B {} }") }
        }
        #expect(Rule.scatteredTypes(in: files(4, "C") + files(4, "D")).isEmpty)
        #expect(Rule.scatteredTypes(in: files(5, "C")).keys.sorted() == ["C.A", "C.A.B"])
        #expect(Rule.scatteredTypes(in: files(5, "C"))["C.A"]?.first == "Sources/C/0.swift")
    }
}
