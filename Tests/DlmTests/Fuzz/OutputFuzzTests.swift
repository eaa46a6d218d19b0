import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

/// The output about downloads whose records come from a damaged store or another process.
@Suite("Fuzzing: output", .inTurn, .serialized)
struct OutputFuzzTests {
    static func corpus() throws -> [String] {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let states: [DownloadState] = [
            .running, .waiting(.retry(.serverRefused(status: 503, phrase: "Busy")), until: Date()), .paused(.user),
            .failed(.fileFailed(.noSpace(needed: 5), path: "/x")), .completed, .cancelled,
        ]
        return try states.map { state in
            let record = DownloadRecord.example(state: state) {
                $0.receive(5_000, of: 1_000_000)
                $0.speed = 1234.5
                $0.session = "background"
                var attempt = AttemptRecord(started: Date(timeIntervalSince1970: 1_700_000_000))
                attempt.ended = attempt.started.addingTimeInterval(5)
                attempt.metrics = TransferMetrics()
                attempt.metrics?.firstByte = 0.125
                attempt.outcome = "stalled"
                $0.attempts = [attempt]
                $0.resume.acceptsRanges = true
                $0.resume.validators.etag = EntityTag(opaque: "v1")
                $0.request.rateLimit = 1000
                if state == .completed { $0.complete(1_000_000) }
            }
            return String(decoding: try encoder.encode(DownloadSnapshot(record: record)), as: UTF8.self)
        }
    }

    static func snapshot(_ input: [UInt8]) -> DownloadSnapshot? {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try? decoder.decode(DownloadSnapshot.self, from: Data(input))
    }

    private static func lines(_ snapshot: DownloadSnapshot) -> [String] {
        let list = DownloadDocument(row: snapshot, now: Date())
        let show = DownloadDocument(snapshot, now: Date())
        var lines = ListTable(rows: [list], style: Style(), columns: 80).lines
        lines += ShowText(document: show, style: Style()).lines
        let finished = FinishedDocument(EndedDownload(snapshot))
        lines += [list.json, show.json, finished.json, EventDocument("started", snapshot).json]
        // These texts are escaped where they are printed.
        let error = StateText.failure(snapshot.record.state)
        let others =
            [FailureText.line(snapshot.record, error)] + ProgressText.details(snapshot.record)
            + PausedText.lines(ids: [snapshot.id], snapshots: [snapshot])
        return lines + others.map(Escaping.line)
    }

    private static func frame(_ snapshot: DownloadSnapshot) -> [String] {
        var ledger = Ledger()
        var model = ProgressModel()
        for id in 1...3 as ClosedRange<DownloadID> { ledger.expect(id, .here) }
        var ended = snapshot
        ended.record.id = 3
        _ = ledger.end(EndedDownload(ended))
        var lines: [String] = []
        for time in [0.0, 1.0] {
            let downloads = (1...2 as ClosedRange<DownloadID>).map { id in
                var progress = snapshot.progress
                progress.id = id
                return progress
            }
            let frame = model.frame(downloads, &ledger, time: time, now: Date(timeIntervalSince1970: 1_700_000_000))
            var renderer = ProgressRenderer(size: (80, 24))
            lines += renderer.lines(frame)
            lines += PlainProgress.lines(frame).map(Escaping.line)
        }
        lines.append(SummaryText.line(ledger, seconds: 1, style: Style()) ?? "")
        return lines
    }

    @Test("Every record is shown, in lines without control characters")
    func records() throws {
        let words = ["\"inf\"", "\"nan\"", "\"_0\":", "[[0,1]]", "\\u001b", "\\u202e", "\\n", "\\u009b", "null,"]
        let fuzzing = Fuzzing("Records", corpus: try Self.corpus(), words: words)
        fuzzing.run { input in
            guard let snapshot = Self.snapshot(input) else { return nil }
            let lines = Self.lines(snapshot) + Self.frame(snapshot)
            let raw = lines.first { line in
                line.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
            }
            return raw.map { "a raw control character in \($0.debugDescription)" }
        }
    }

    @Test("Every event of another process is shown in a valid form")
    func events() throws {
        let event = LoggedEvent(
            cursor: 3, time: Date(timeIntervalSince1970: 1_700_000_000), kind: .waiting, id: 3, name: "a.bin",
            url: "http://h/a", session: "background", state: .paused(.user), received: 5, total: 10)
        let corpus = [String(decoding: try JSONEncoder().encode(EventFields(event)), as: UTF8.self)]
        Fuzzing("Events", corpus: corpus, words: ["\\u001b"]).run { input in
            guard let fields = try? JSONDecoder().decode(EventFields.self, from: Data(input)) else { return nil }
            let lines = [EventDocument(.event(fields.event)).json, EventDocument(fields.event)?.json ?? ""]
            let raw = lines.first { $0.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) } }
            return raw.map { "a raw control character in \($0.debugDescription)" }
        }
    }

    @Test("Text is cut to its columns, and contains nothing harmful")
    func text() {
        let corpus = ["debian-12.iso", "東京の天気.csv.gz", "\u{1B}[2J evil", "👨‍👩‍👧 e\u{301}", "\u{202E}gpj.exe"]
        let fuzzing = Fuzzing("Text", corpus: corpus, words: ["\u{FE0F}", "\u{1F1E6}", "\u{200D}", "\u{AD}"])
        fuzzing.run { input in
            let text = Escaping.line(String(decoding: input.prefix(4096), as: UTF8.self))
            if Escaping.line(text) != text { return "not harmless" }
            for columns in [0, 1, 2, 16, 40] {
                let (middle, end) = (DisplayWidth.cut(text, to: columns), DisplayWidth.cutEnd(text, to: columns))
                if DisplayWidth.of(middle) > columns || DisplayWidth.of(end) > columns {
                    return "wider than \(columns)"
                }
            }
            return nil
        }
        fuzzing.runsInLinearTime { input in
            _ = DisplayWidth.cut(Escaping.line(String(decoding: input, as: UTF8.self)), to: 40)
        }
    }
}

/// The fields of a `LoggedEvent` as JSON, because `LoggedEvent` is not codable.
private struct EventFields: Codable {
    let cursor, id, received: Int64
    let time: Double
    let kind: LoggedEvent.Kind
    let name, url: String
    let session: String?
    let state: DownloadState?
    let total: Int64?

    init(_ event: LoggedEvent) {
        (cursor, id, received, total) = (event.cursor, event.id.rawValue, event.received, event.total)
        (time, kind, name, url) = (event.time.timeIntervalSince1970, event.kind, event.name, event.url)
        (session, state) = (event.session, event.state)
    }

    var event: LoggedEvent {
        LoggedEvent(
            cursor: cursor, time: Date(timeIntervalSince1970: time), kind: kind, id: DownloadID(id), name: name,
            url: url, session: session, state: state, received: received, total: total)
    }
}
