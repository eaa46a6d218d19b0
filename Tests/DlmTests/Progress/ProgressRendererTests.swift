import Testing

@testable import dlm

@Suite("The progress display")
struct ProgressRendererTests {
    static let mib: Int64 = 1 << 20

    static let frame = ProgressFrame(
        rows: [
            .init(
                name: "debian-12.iso", received: 412 * mib, total: 654 * mib, speed: 88 * 1_048_576, time: "0:03"),
            .init(name: "東京の天気-2026-11-21-très-long-name.csv.gz", received: 7 * mib, speed: 1536),
            .init(name: "retry.zip", received: mib, total: 2 * mib, note: "retry in 4 s: 503 Service Unavailable"),
            .init(name: "evil\u{1B}[2J.bin", received: 0, total: 0, note: "verifying"),
        ],
        total: .init(
            downloads: 12, done: 7, failed: 1, received: 430 * mib, bytes: 672 * mib, speed: 88 * 1_048_576))

    func lines(_ frame: ProgressFrame, width: Int, height: Int = 24, style: Style = Style()) -> [String] {
        var renderer = ProgressRenderer(width: width, height: height, style: style)
        return renderer.lines(frame)
    }

    @Test("At every width there are the columns that fit", arguments: [20, 40, 80, 120, 200])
    func snapshot(width: Int) throws {
        let expected = try #require(Self.snapshots[width])
        #expect(lines(Self.frame, width: width).joined(separator: "\n") == expected)
    }

    @Test("Before the first byte there is room for why")
    func waiting() {
        let row = ProgressFrame.Row(name: "a", received: 0, note: "retry in 4 s: 503 Service Unavailable")
        let line = lines(ProgressFrame(rows: [row]), width: 80)[0]
        #expect(line == "a  " + String(repeating: "─", count: 34) + "        retry in 4 s: 503 Service Unavail…")
    }

    @Test("No line is wider than the terminal, whatever its width", arguments: 1...220)
    func fits(width: Int) {
        for style in [Style(), Style(isColored: true), Style(isUnicode: false)] {
            for line in lines(Self.frame, width: width, style: style) {
                #expect(DisplayWidth.of(line) <= max(width - 1, 7), "\(line)")
            }
        }
    }

    @Test("A terminal without room for all shows those first in line, and the total in the last line")
    func height() {
        let rows = (1...30).map { ProgressFrame.Row(name: "f\($0)", received: 0) }
        let total = ProgressFrame.Total(downloads: 30, done: 0, failed: 0, received: 0)
        let drawn = lines(ProgressFrame(rows: rows, total: total), width: 80, height: 24)
        #expect(drawn.count == 12)
        #expect(drawn.first?.hasPrefix("f1 ") == true)
        #expect(drawn.last?.hasPrefix("30 downloads") == true)
        #expect(lines(ProgressFrame(rows: rows, total: total), width: 80, height: 5).count == 4)
        #expect(lines(ProgressFrame(rows: rows, total: total), width: 80, height: 2).count == 1)
    }

    @Test("Columns do not jump when a long name goes")
    func stable() {
        var renderer = ProgressRenderer(width: 100, height: 24)
        _ = renderer.lines(ProgressFrame(rows: [.init(name: "a-rather-long-name.iso", received: 5, total: 10)]))
        let short = renderer.line(.init(name: "x", received: 5, total: 10))
        #expect(short.hasPrefix("x" + String(repeating: " ", count: 23) + "━"))
    }

    @Test(
        "The bar is full only when all is there, and moves by half columns",
        arguments: [
            (0, 100, "──────────"), (5, 100, "╸─────────"), (10, 100, "━─────────"), (99, 100, "━━━━━━━━━╸"),
            (100, 100, "━━━━━━━━━━"), (0, 0, "━━━━━━━━━━"), (999_999, 1_000_000, "━━━━━━━━━╸"),
        ] as [(Int64, Int64, String)])
    func bar(received: Int64, total: Int64, text: String) {
        #expect(ProgressBar(received: received, total: total, columns: 10).text(Style()) == text)
    }

    @Test("Without Unicode and without a total the bar is plain")
    func plainBar() {
        #expect(ProgressBar(received: 35, total: 100, columns: 10).text(Style(isUnicode: false)) == "===-      ")
        #expect(ProgressBar(received: 35, total: nil, columns: 4).text(Style(isUnicode: false)) == "    ")
    }
}
