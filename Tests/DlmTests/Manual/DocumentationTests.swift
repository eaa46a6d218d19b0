import Foundation
import FoundationXML
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The documents about dlm", .inTurn, .serialized)
struct DocumentationTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns the words of the first `dlm` command in a line of a shell, or nil if there is none.
    static func words(_ line: String) -> [String]? {
        guard let match = line.firstMatch(of: /(?:^|[(`]|\) )dlm ([^`)|;]*)/) else { return nil }
        return match.1.replacing("\"Authorization: Bearer $TOKEN\"", with: "Authorization:x")
            .replacing("sha256:HEX", with: "sha256:" + String(repeating: "0", count: 64))
            .replacing("\"$id\"", with: "3").replacing("URL...", with: "URL").split(separator: " ").map { String($0) }
    }

    @Test("Every command has examples")
    func commands() throws {
        for command in try CommandDescription.root().visibleCommands {
            #expect(ManualText.examples[command.commandName] != nil, "\(command.commandName)")
        }
    }

    @Test("The examples of the manual are valid commands", arguments: [nil] + ManualText.examples.keys.sorted())
    func examples(command: String?) throws {
        for example in ManualText.examples(for: command) {
            let words = try #require(Self.words(example.command), "\(example.command)")
            #expect(throws: Never.self, "\(example.command)") { try DLM.command(words) }
        }
    }

    @Test(
        "The examples of the README and the documents are valid commands",
        arguments: ["README.md", "docs/exit-status.md", "docs/json.md"])
    func readme(path: String) throws {
        var count = 0
        for line in try Self.text(path).split(separator: "\n") {
            let text = line.hasPrefix("$ ") ? String(line.dropFirst(2)) : String(line)
            // Sentences are skipped, because they may name commands that do not exist yet.
            let isSentence = !text.hasPrefix("|") && text.contains("`dlm") && !text.contains("- ")
            guard !isSentence, let words = Self.words(text), words.first != "help" else { continue }
            #expect(throws: Never.self, "\(text)") { try DLM.command(words) }
            count += 1
        }
        #expect(count >= 2)
    }

    @Test(
        "Each picture is an SVG text that any viewer can show, and shows nothing of the machine it was made on",
        arguments: [
            ("progress", ["debian-12.iso", "404 Not Found", "retry in", "prefers-color-scheme"]),
            ("watch", ["debian-12.iso", "404 Not Found", "limit (500k", "The keys of dlm watch"]),
        ])
    func picture(name: String, words: [String]) throws {
        let text = try Self.text("docs/\(name).svg")
        let reader = XMLParser(data: Data(text.utf8))
        #expect(reader.parse(), "\(reader.parserError as Any)")
        for word in words { #expect(text.contains(word), "\(word)") }
        for word in ["<script", "<image", "/tmp/", "127.0.0.1", "href"] { #expect(!text.contains(word), "\(word)") }
    }

    @Test("The manual and docs/exit-status.md have the same statuses")
    func statuses() throws {
        let rows = try Self.text("docs/exit-status.md").split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.map { String($0) } == ManualText.statuses.map { "| \($0.0) | \($0.1) |" })
    }

    @Test("The suites that docs/protocols.md names exist")
    func namedSuites() throws {
        let names = try Set(
            Self.text("docs/protocols.md").matches(of: /`([A-Za-z]+Tests)`/).map { String($0.output.1) })
        #expect(names.count > 5)
        let files = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: "Tests").path)
        for name in names { #expect(files.contains { $0.hasSuffix("/\(name).swift") }, "\(name)") }
    }

    /// The page is made from the reports of tests, see `make protocol-test`.
    @Test("Each cell of the tables in docs/protocols.md names the suites of its results, or begins with `no:`")
    func protocolTables() throws {
        let page = try Self.text("docs/protocols.md").components(separatedBy: "<!-- ")
        let made = try #require(page.first { $0.hasPrefix("made by make protocol-test -->") })
        let rows = made.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        let protocols = ["http", "https", "ftp", "ftp --ssl-reqd", "ftps", "sftp", "scp"]
        let proxies = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"].map { $0 + "://" }
        #expect(rows.map { $0[0] } == ["protocol"] + protocols + ["file", "through"] + proxies)
        let files = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: "Tests").path)
        for row in rows where row[0] != "protocol" && row[0] != "through" {
            #expect(row.count == (row[0].hasSuffix("://") ? protocols.count + 2 : 6), "\(row)")
            for cell in row.dropFirst() where !cell.hasPrefix("no: ") {
                let names = cell.matches(of: /: `([A-Za-z]+Tests)`/).map { String($0.output.1) }
                #expect(!names.isEmpty, "\(row[0]): \(cell)")
                for name in names {
                    let file = try #require(files.first { $0.hasSuffix("/\(name).swift") }, "\(name)")
                    #expect(try Self.text("Tests/\(file)").contains("ProtocolTable.note("), "\(name)")
                }
            }
        }
    }

    @Test("The tests that docs/user-needs.md names exist")
    func namedTests() throws {
        let rows = try Self.text("docs/user-needs.md").split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        let numbers = rows.map { $0.dropFirst(2).prefix { $0.isNumber } }
        #expect(numbers.map(String.init) == (1...25).map(String.init))
        let sources = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: "Tests").path)
            .filter { $0.hasSuffix(".swift") && !$0.hasSuffix("/DocumentationTests.swift") }
            .map { try Self.text("Tests/\($0)") }
        for row in rows {
            for name in row.matches(of: /"([^"]+)"/).map(\.1) {
                #expect(sources.contains { $0.contains("\"\(name)\"") }, "\(name)")
            }
            if row.contains("| met") { #expect(row.contains("\""), "\(row)") }
        }
    }
}
