import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadRPC

@Suite("docs/aria2.md", .inTurn)
struct Aria2DocumentTests {
    private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/aria2.md")

    /// Returns the cells of the rows of a table in the page.
    private func rows(_ heading: String, in page: String) throws -> [[String]] {
        let start = try #require(page.range(of: "### \(heading)\n")?.upperBound)
        let lines = page[start...].split(separator: "\n").prefix { !$0.hasPrefix("#") }
        return lines.filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: " | ", omittingEmptySubsequences: false).map { cell in
                cell.trimmingCharacters(in: CharacterSet(charactersIn: "| "))
            }
        }
    }

    @Test("The page has each option in its table, with its default or its reason, and each method and notification")
    func isCurrent() throws {
        let page = try String(contentsOf: Self.path, encoding: .utf8)
        let options = Aria2Option.all.sorted { $0.name < $1.name }
        let meant = options.filter { $0.effect != nil }.map { ["`\($0.name)`", $0.standard.map { "`\($0)`" } ?? ""] }
        #expect(try rows("Options with an effect", in: page).map { Array($0.prefix(2)) } == meant)
        let ignored = try rows("Options without an effect", in: page)
        #expect(ignored.map { $0[0] } == options.filter { $0.use == .ignored }.map { "`\($0.name)`" })
        #expect(ignored.allSatisfy { $0.count == 2 && !$0[1].isEmpty })
        let refused = options.compactMap { option in
            if case .refused(let reason) = option.use { ["`\(option.name)`", reason] } else { nil }
        }
        #expect(try rows("Refused options", in: page) == refused)
        let methods = Aria2Method.all.map { "`\($0.name)`" }.joined(separator: ", ")
        let notifications = Aria2Notification.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        #expect(page.contains("\n\(methods).\n\nNotifications: \(notifications).\n"))
    }

    @Test("Each option occurs once, and all defaults are valid for addUri")
    func options() throws {
        #expect(Aria2Option.byName.count == Aria2Option.all.count)
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
