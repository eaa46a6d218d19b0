import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadRPC

@Suite("docs/aria2.md", .inTurn)
struct Aria2DocumentTests {
    private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/aria2.md")

    /// Writes the page anew if `DLM_WRITE_DOCUMENTS` is set.
    @Test("The page is what the tables of options and methods generate")
    func isCurrent() throws {
        if ProcessInfo.processInfo.environment["DLM_WRITE_DOCUMENTS"] != nil {
            try Data(Aria2Document.text.utf8).write(to: Self.path)
        }
        #expect(try String(contentsOf: Self.path, encoding: .utf8) == Aria2Document.text, "run: make generate")
    }

    @Test("Each option occurs once, refused ones have a reason, and all defaults are valid for addUri")
    func options() throws {
        #expect(Aria2Option.byName.count == Aria2Option.all.count)
        for option in Aria2Option.all where option.effect == nil { #expect(!option.reason.isEmpty, "\(option.name)") }
        let standards = Aria2Option.standards.mapValues { JSONValue.string($0) }
        _ = try Aria2Draft(standards, folder: "/tmp", url: Aria2Session.url("http://h/").url)
    }

    @Test("Sizes are read as aria2 reads them")
    func sizes() throws {
        #expect(
            try Aria2Draft.size("0", "x") == 0 && Aria2Draft.size("20K", "x") == 20480
                && Aria2Draft.size("1m", "x") == 1 << 20)
        for text in ["", "K", "-1", "1.5M", "1T", "99999999999999999999", "9223372036854775807K"] {
            #expect(throws: RPCError.self, "\(text)") { try Aria2Draft.size(text, "x") }
        }
    }
}
