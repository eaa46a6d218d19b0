import DownloadTestSupport
import Foundation
import Testing

/// One symbol of the library's public interface.
private struct Symbol: Decodable {
    struct Kind: Decodable { let identifier: String }
    struct Identifier: Decodable { let precise: String }
    struct Fragment: Decodable { let spelling: String }
    struct Comment: Decodable { let lines: [Line] }
    struct Line: Decodable { let text: String }

    let kind: Kind
    let identifier: Identifier
    let pathComponents: [String]
    let docComment: Comment?
    let declarationFragments: [Fragment]?

    var path: String { pathComponents.joined(separator: ".") }

    /// The path, by which symbols are sorted, and the declaration in one line.
    var line: String {
        // Only compilers from Swift 6.3 on know the attribute.
        let text = (declarationFragments ?? []).map(\.spelling).joined().replacing("@nonexhaustive ", with: "")
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return "\(path): \(words)"
    }

    /// Whether the symbol has a comment, or needs none because it is a requirement of a protocol of the standard
    /// library.
    var isExplained: Bool {
        let own = [
            "encode(to:)", "init(from:)", "description", "customMirror", "makeAsyncIterator()", "Iterator", "next()",
        ]
        return docComment != nil || own.contains(pathComponents.last ?? "") || pathComponents.contains("Iterator")
    }
}

@Suite("The public interface", .inTurn, .serialized, .timeLimit(.minutes(3)))
struct PublicInterfaceTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    /// Returns the public symbols of the modules that these tests were built with.
    private func symbols() async throws -> [Symbol] {
        let folder = try TemporaryFolder()
        let build = URL(fileURLWithPath: try ExampleProgram.path("")).deletingLastPathComponent()
        // `.build/tests/release` is preferred, because scripts/symbol-graph looks for the checkouts beside it.
        let named = Self.root.appending(path: ".build/tests/release").path
        let isNamed = FileManager.default.fileExists(atPath: named + "/Modules")
        var launch = ProcessLaunch(
            Self.root.appending(path: "scripts/symbol-graph").path,
            [isNamed ? named : build.path, folder("graph"), "DownloadKit", "DownloadKitTesting"])
        launch.environment = ProcessInfo.processInfo.environment
        launch.timeLimit = .seconds(150)
        let result = try await ChildProcess(launch).result()
        try #require(result.ending == .exited(0), "\(result.stdout) \(result.stderr)")
        struct Graph: Decodable { let symbols: [Symbol] }
        return try ["DownloadKit", "DownloadKitTesting", "DownloadKitTesting@DownloadCore"].flatMap { name in
            let data = try Data(contentsOf: URL(fileURLWithPath: folder("graph/\(name).symbols.json")))
            return try JSONDecoder().decode(Graph.self, from: data).symbols
        }
    }

    @Test("Every public symbol is in PublicInterface.txt and has a comment")
    func list() async throws {
        let symbols = try await symbols()
        let bare = symbols.filter { !$0.isExplained }.map(\.path).sorted()
        #expect(bare == [], "without a comment: \(bare.joined(separator: ", "))")
        let list = symbols.map(\.line).sorted().joined(separator: "\n") + "\n"
        let file = Self.root.appending(path: "Tests/DownloadKitTests/PublicInterface.txt")
        // `make public-interface` writes a new list.
        if ProcessInfo.processInfo.environment["DLM_WRITE_INTERFACE"] != nil {
            try list.write(to: file, atomically: true, encoding: .utf8)
        }
        let known = try String(contentsOf: file, encoding: .utf8)
        let (new, old) = (Set(list.split(separator: "\n")), Set(known.split(separator: "\n")))
        #expect(new.subtracting(old).sorted() == [], "new in the public interface; run make public-interface")
        #expect(old.subtracting(new).sorted() == [], "gone from the public interface; run make public-interface")
    }
}

@Suite("The guides", .inTurn)
struct GuideTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    /// Returns the lines without indentation and without empty lines.
    private func lines(_ text: some StringProtocol) -> [String] {
        text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test("Every piece of code in the guides is compiled with the tests")
    func code() throws {
        let sources = Self.root.appending(path: "Tests/DownloadKitTests/Guides")
        let compiled = try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted().map { name in
            "\n" + lines(try String(contentsOf: sources.appending(path: name), encoding: .utf8)).joined(separator: "\n")
        }
        let catalogue = Self.root.appending(path: "Sources/DownloadKit/DownloadKit.docc")
        var pieces = [String: Int]()
        let pages = try FileManager.default.contentsOfDirectory(atPath: catalogue.path).map {
            catalogue.appending(path: $0)
        }
        for page in pages + [Self.root.appending(path: "README.md"), Self.root.appending(path: "docs/library.md")] {
            let text = try String(contentsOf: page, encoding: .utf8)
            for piece in text.components(separatedBy: "```swift\n").dropFirst() {
                let code = lines(piece.components(separatedBy: "```")[0]).joined(separator: "\n")
                pieces[page.lastPathComponent, default: 0] += 1
                #expect(compiled.contains { $0.contains("\n" + code) }, "\(page.lastPathComponent): \(code)")
            }
        }
        #expect((pieces["GettingStarted.md"] ?? 0) >= 6 && (pieces["ComingFrom.md"] ?? 0) >= 10)
    }

    @Test("The table of docs/library.md names only tests that exist")
    func table() throws {
        let tests = Self.root.appending(path: "Tests/DownloadKitTests")
        let sources = try FileManager.default.contentsOfDirectory(atPath: tests.path).filter {
            $0.hasSuffix("Tests.swift")
        }
        .map { try String(contentsOf: tests.appending(path: $0), encoding: .utf8) }.joined()
        let page = try String(contentsOf: Self.root.appending(path: "docs/library.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## Where to find").last)
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count == 28)
        for row in rows {
            let names =
                row.split(separator: "|").last?.split(separator: "`").enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) } ?? []
            #expect(!names.isEmpty, "\(row)")
            for name in names {
                let parts = name.split(separator: ".").map { String($0) }
                #expect(parts.count == 2 && sources.contains("struct \(parts[0]) {"), "\(name)")
                #expect(sources.contains("func \(parts[1])("), "\(name)")
            }
        }
    }
}
