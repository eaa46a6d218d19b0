import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The progress display", .inTurn, .serialized)
struct ProgressRendererTests {
    static let mib: Int64 = 1 << 20

    static let frame = ProgressFrame(
        rows: [
            .init(
                id: 1, name: "debian-12.iso", received: 412 * mib, total: 654 * mib, speed: 88 * 1_048_576, left: 3),
            .init(
                id: 2, name: "東京の天気-2026-11-21-très-long-name.csv.gz", received: 7 * mib, speed: 1536),
            .init(
                id: 3, name: "retry.zip", state: .waiting, received: mib, total: 2 * mib,
                note: "retry in 4 s: 503 Service Unavailable"),
            .init(
                id: 4, name: "evil\u{1B}[2J.bin", received: 0, total: 0, note: "verifying"),
        ],
        total: .init(
            downloads: 12, done: 7, failed: 1, received: 430 * mib, bytes: 672 * mib, speed: 88 * 1_048_576, left: 3))

    func lines(_ frame: ProgressFrame, width: Int, height: Int = 24, style: Style = Style()) -> [String] {
        var renderer = ProgressRenderer(size: (width, height), style: style)
        return renderer.lines(frame)
    }

    @Test("At every width, the columns that fit are shown", arguments: [20, 40, 80, 120, 200])
    func snapshot(width: Int) throws {
        let expected = try #require(Self.snapshots[width])
        #expect(lines(Self.frame, width: width).joined(separator: "\n") == expected)
    }

    @Test("Without room for all rows, active downloads come first, then the latest failures")
    func failuresMatter() {
        func row(_ id: DownloadID, _ state: DownloadState.Kind, _ note: String? = nil) -> ProgressFrame.Row {
            .init(id: id, name: "f\(id)", state: state, received: 1, total: 4, note: note)
        }
        var frame = ProgressFrame(
            rows: (1...4).map { row($0, .running) } + (5...30).map { row($0, .paused, "paused") },
            failures: [row(40, .failed, "404 Not Found"), row(39, .failed, "404 Not Found")],
            total: .init(downloads: 50, done: 18, failed: 2, received: 0))
        let lines = lines(frame, width: 80)
        #expect(lines.count == 12)
        let names = lines.map { String($0.prefix { $0 != " " }) }
        #expect(names.prefix(8) == ["f1", "f2", "f3", "f4", "f40", "f39", "f5", "f6"])
        #expect(lines[10] == "… 22 more paused")
        #expect(lines[4].hasSuffix("404 Not Found"))
        frame.rows = Array(frame.rows.prefix(5))
        #expect(!self.lines(frame, width: 80).joined().contains("404"))
    }

    @Test("Before its first byte, the line of a waiting download shows the reason for the wait")
    func waiting() {
        let note = "retry in 4 s: 503 Service Unavailable"
        let row = ProgressFrame.Row(id: 1, name: "a", state: .waiting, received: 0, note: note)
        #expect(lines(ProgressFrame(rows: [row]), width: 80) == ["a  \(note)"])
        #expect(lines(ProgressFrame(rows: [row]), width: 20) == ["a  retry in 4 s: 5…"])
    }

    @Test("Each state has its own form of line")
    func states() {
        func line(_ state: DownloadState.Kind, _ note: String?) -> String {
            let row = ProgressFrame.Row(
                id: 1, name: "a.iso", state: state, received: 5 << 20, total: 10 << 20, speed: 0, note: note)
            return lines(ProgressFrame(rows: [row]), width: 80)[0]
        }
        let bar = "a.iso  ━━━━━━━━━━━━━━━───────────────   50%"
        #expect(line(.running, nil) == "\(bar)   5.0/10.0 MiB       0 B/s")
        #expect(line(.running, "verifying") == "\(bar)   5.0/10.0 MiB  verifying")
        #expect(line(.running, "finishing") == "\(bar)   5.0/10.0 MiB  finishing")
        #expect(line(.paused, "paused") == "\(bar)   5.0/10.0 MiB  paused")
        #expect(line(.waiting, "retry in 4 s: 503 Busy") == "\(bar)  retry in 4 s: 503 Busy")
        #expect(
            line(.waiting, "waiting for the network; retry in 4 s") == "\(bar)  waiting for the network; retry in…")
    }

    @Test("No line is wider than the terminal, or than 7 columns in a narrower terminal", arguments: 1...220)
    func fits(width: Int) {
        for style in [Style(), Style(isColored: true), Style(isUnicode: false)] {
            for line in lines(Self.frame, width: width, style: style) {
                #expect(DisplayWidth.of(line) <= max(width - 1, 7), "\(line)")
            }
        }
    }

    @Test("Without room for all rows, the display shows the first rows, the number of the other rows, and the total")
    func height() {
        let rows = (1...30).map { ProgressFrame.Row(id: $0, name: "f\($0)", received: 0) }
        let total = ProgressFrame.Total(downloads: 30, done: 0, failed: 0, received: 0)
        let drawn = lines(ProgressFrame(rows: rows, total: total), width: 80, height: 24)
        #expect(drawn.count == 12)
        #expect(drawn[10] == "… 20 more running")
        #expect(drawn.first?.hasPrefix("f1 ") == true)
        #expect(drawn.last?.hasPrefix("30 downloads") == true)
        #expect(lines(ProgressFrame(rows: rows, total: total), width: 80, height: 5).count == 4)
        #expect(lines(ProgressFrame(rows: rows, total: total), width: 80, height: 2).count == 1)
    }

    @Test(
        "One to 500 downloads take no more lines than fit, and all downloads are counted",
        arguments: [1, 2, 5, 11, 12, 13, 100, 500], [5, 12, 24, 50])
    func many(count: Int, height: Int) {
        let states: [DownloadState.Kind] = [.running, .waiting, .queued]
        let rows = (0..<count).map { index in
            ProgressFrame.Row(
                id: DownloadID(index), name: "f\(index)", state: states[min(2, index * 3 / count)], received: 0)
        }
        for queued in [0, 7] {
            let total = ProgressFrame.Total(downloads: count + queued, done: 0, failed: 0, received: 0)
            let drawn = lines(ProgressFrame(rows: rows, queued: queued, total: total), width: 80, height: height)
            #expect(drawn.count < height && drawn.count <= max(height / 2, 4))
            let shown = drawn.count { $0.hasPrefix("f") }
            let more = drawn.first { $0.hasPrefix("…") }
            let hidden = more.flatMap { $0.firstMatch(of: /… (\d+) more/) }.flatMap { Int($0.1) } ?? 0
            #expect(shown + hidden == count + queued, "\(drawn)")
        }
    }

    @Test("Hidden rows are counted by state")
    func hidden() {
        let rows = [1, 2, 3].map { ProgressFrame.Row(id: $0, name: "", state: .running, received: 0) }
        let waiting = ProgressFrame.Row(id: 4, name: "", state: .waiting, received: 0)
        #expect(HiddenRows.line((rows + [waiting])[...], queued: 60) == "… 64 more: 3 running, 1 waiting, 60 queued")
        #expect(HiddenRows.line([], queued: 60) == "… 60 more queued")
        #expect(HiddenRows.line([], queued: 0) == nil)
    }

    @Test("With an unknown size, the received bytes are always shown")
    func unsized() {
        let row = ProgressFrame.Row(id: 1, name: "stream-of-events.log", received: 7 << 20, speed: 1536)
        func line(_ width: Int) -> String { lines(ProgressFrame(rows: [row]), width: width)[0] }
        #expect(line(80) == "stream-of-ev…ts.log  ────────────────              7.0 MiB   1.5 KiB/s")
        #expect(line(62) == "stream-of-ev…ts.log        7.0 MiB         1.5 KiB/s")
        #expect(line(48) == "stream-of-ev…s.log       7.0 MiB")
        #expect(line(44) == "stream-of-…s.log     7.0 MiB")
        #expect(line(36) == "stream-of-events.log        7.0 MiB")
    }

    @Test("The columns keep their widths when a long name disappears")
    func stable() {
        var renderer = ProgressRenderer(size: (100, 24))
        _ = renderer.lines(
            ProgressFrame(rows: [
                .init(
                    id: 5, name: "a-rather-long-name.iso", received: 5, total: 10)
            ]))
        let short = renderer.line(
            .init(
                id: 6, name: "x", received: 5, total: 10))
        #expect(short.hasPrefix("x" + String(repeating: " ", count: 23) + "━"))
    }

    @Test(
        "The bar is full only when all bytes are there, and moves by half columns",
        arguments: [
            (0, 100, "──────────"), (5, 100, "╸─────────"), (10, 100, "━─────────"), (99, 100, "━━━━━━━━━╸"),
            (100, 100, "━━━━━━━━━━"), (0, 0, "━━━━━━━━━━"), (999_999, 1_000_000, "━━━━━━━━━╸"),
        ] as [(Int64, Int64, String)])
    func bar(received: Int64, total: Int64, text: String) {
        #expect(ProgressBar(received: received, total: total, columns: 10).text(Style()) == text)
    }

    @Test("Without Unicode the bar is ASCII, and without a total it is empty")
    func plainBar() {
        #expect(ProgressBar(received: 35, total: 100, columns: 10).text(Style(isUnicode: false)) == "===-      ")
        #expect(ProgressBar(received: 35, total: nil, columns: 4).text(Style(isUnicode: false)) == "    ")
    }
}
