import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

@Suite("The file of GIDs", .inTurn)
struct GIDTableTests {
    private func table(_ path: String) -> (table: GIDTable, reports: [String]) {
        var reports: [String] = []
        let table = GIDTable(path: path) { reports.append($0) }
        return (table, reports)
    }

    @Test("Lines that later lines have replaced are dropped when the file is read")
    func compaction() throws {
        let folder = try TemporaryFolder()
        let lines = (1...5000).map { "\(GID(value: UInt64($0))) \($0 % 10 + 1)\n" }.joined()
        try folder.write(lines + "no line\n", to: "gids")
        let (table, reports) = table(folder("gids"))
        #expect(reports == [])
        #expect(table.id(of: GID(value: 4999)) == 10 && table.gid(of: 10) == GID(value: 4999))
        #expect(try folder.read("gids").split(separator: "\n").count == 10)
        #expect(self.table(folder("gids")).table.gid(of: 10) == GID(value: 4999))
    }

    @Test("If the file has grown beyond its limit, only its end is read")
    func long() throws {
        let folder = try TemporaryFolder()
        let line = "0123456789abcdef 7\n"
        try folder.write(
            String(repeating: line, count: (9 << 20) / line.utf8.count) + "00000000000000ff 8\n", to: "gids")
        let (table, reports) = table(folder("gids"))
        #expect(reports == [])
        #expect(table.gid(of: 8) == GID(value: 255) && table.gid(of: 7) == GID("0123456789abcdef"))
        #expect(try folder.size(of: "gids") < 100)
    }

    @Test("A file that cannot be read is reported; a missing file is not")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        #expect(table(folder("gids")).reports == [])
        try FileManager.default.createSymbolicLink(atPath: folder("gids"), withDestinationPath: "/etc/passwd")
        #expect(table(folder("gids")).reports.count == 1)
    }
}
