import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The table of downloads", .inTurn, .serialized)
struct ListTableTests {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    static func row(
        _ id: DownloadID, _ name: String, _ state: DownloadState, received: Int64 = 0, total: Int64? = nil,
        speed: Double? = nil
    ) -> DownloadDocument {
        let record = DownloadRecord.example(id: id, state: state) {
            $0.fileName = name
            $0.receive(received, of: total)
            $0.speed = speed
        }
        return DownloadDocument(row: DownloadSnapshot(record: record), now: now)
    }

    static let busy = DownloadError.serverRefused(status: 503, phrase: "Service Unavailable")
    static let rows = [
        row(3, "debian-12.iso", .paused(.user), received: 412 << 20, total: 654 << 20),
        row(5, "東京の天気-2026-11-21-très-long-name.csv.gz", .running, received: 1 << 27, total: 5 << 28, speed: 9e7),
        row(6, "👩‍👩‍👧.zip", .waiting(.retry(busy), until: now.addingTimeInterval(4))),
        row(107, "y\u{1B}[2J.bin", .failed(.serverRefused(status: 404, phrase: "Not Found")), received: 2000),
    ]

    func table(_ columns: Int?, _ rows: [DownloadDocument] = rows, style: Style = Style()) -> [String] {
        ListTable(rows: rows, style: style, columns: columns).lines
    }

    static let snapshots: [Int?: String] = [
        nil: #"""
          ID  STATE    DONE     SIZE     SPEED  LEFT  NAME
           3  paused    62%  654 MiB         -     -  debian-12.iso
           5  running   10%  1.2 GiB  85 MiB/s  0:14  東京の天気-2026-11-21-très-long-name.csv.gz
           6  waiting     -        -         -     -  👩‍👩‍👧.zip                                       retry in 4 s: 503 Service Unavailable
         107  failed      -  1.9 KiB         -     -  y\x1b[2J.bin                                 404 Not Found
        """#,
        40: #"""
          ID  STATE    DONE  NAME
           3  paused    62%  debian-12.iso
           5  running   10%  東京の天気…sv.gz
           6  waiting     -  👩‍👩‍👧.zip
         107  failed      -  y\x1b[2J.bin
        """#,
        60: #"""
          ID  STATE    DONE     SIZE  LEFT  NAME
           3  paused    62%  654 MiB     -  debian-12.iso
           5  running   10%  1.2 GiB  0:14  東京の天気…sv.gz
           6  waiting     -        -     -  👩‍👩‍👧.zip
         107  failed      -  1.9 KiB     -  y\x1b[2J.bin
        """#,
        80: #"""
          ID  STATE    DONE     SIZE     SPEED  LEFT  NAME
           3  paused    62%  654 MiB         -     -  debian-12.iso
           5  running   10%  1.2 GiB  85 MiB/s  0:14  東京の天気-…sv.gz
           6  waiting     -        -         -     -  👩‍👩‍👧.zip             retry in 4 s: …
         107  failed      -  1.9 KiB         -     -  y\x1b[2J.bin       404 Not Found
        """#,
        120: #"""
          ID  STATE    DONE     SIZE     SPEED  LEFT  NAME
           3  paused    62%  654 MiB         -     -  debian-12.iso
           5  running   10%  1.2 GiB  85 MiB/s  0:14  東京の天気-2026-11-21-tr…-name.csv.gz
           6  waiting     -        -         -     -  👩‍👩‍👧.zip                                 retry in 4 s: 503 Service Unavaila…
         107  failed      -  1.9 KiB         -     -  y\x1b[2J.bin                           404 Not Found
        """#,
    ]

    @Test("At every width, the columns that fit are shown", arguments: [nil, 40, 60, 80, 120, 200])
    func snapshot(columns: Int?) throws {
        // At this width nothing is cut.
        let expected = try #require(Self.snapshots[columns == 200 ? nil : columns])
        #expect(table(columns).joined(separator: "\n") == expected)
    }

    @Test("No line is wider than the terminal, or than 18 columns in a narrower terminal", arguments: 1...220)
    func fits(columns: Int) {
        for style in [Style(), Style(isColored: true)] {
            for line in table(columns, style: style) {
                #expect(DisplayWidth.of(line) <= max(columns, 18), "\(line)")
            }
        }
    }

    @Test("Without enough room, empty columns are left out first")
    func emptyColumns() {
        let rows = [Self.rows[0], Self.rows[2], Self.rows[3]]
        #expect(table(80, rows)[0].contains("SIZE") && !table(80, rows)[0].contains("SPEED"))
        #expect(table(80, rows)[2].contains("retry in 4 s: 503 Service"))
        #expect(table(200, rows)[0].contains("SPEED"))
        #expect(ListTable(rows: rows, style: Style(), columns: 80, isLast: false).lines[0].contains("SPEED"))
    }

    @Test("The pages of a list have the same columns, and the columns only grow")
    func pages() {
        let first = ListTable(rows: [Self.rows[0]], style: Style(), columns: 80)
        let second = ListTable(rows: [Self.rows[3]], style: Style(), columns: 80, before: first.layout)
        #expect(first.lines.count == 2 && second.lines.count == 1)
        #expect(second.layout.isShown == first.layout.isShown)
        #expect(zip(second.layout.widths, first.layout.widths).dropLast().allSatisfy { $0 >= $1 })
    }

    @Test("Running, waiting and failed downloads have a colour each, and paused downloads have none")
    func colours() {
        let lines = table(120, style: Style(isColored: true))
        for (line, colour) in zip(lines.dropFirst(2), ["36", "33", "31"]) {
            #expect(line.contains("\u{1B}[\(colour)m"), "\(line)")
        }
        #expect(!lines[1].contains("\u{1B}"))
    }
}
