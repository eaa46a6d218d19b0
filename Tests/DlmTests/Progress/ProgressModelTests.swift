import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The model of the display", .inTurn, .serialized)
struct ProgressModelTests {
    let now = Date(timeIntervalSince1970: 1_700_000_000)

    func progress(
        _ id: DownloadID, _ state: DownloadState = .running, received: Int64 = 0, total: Int64? = nil
    ) -> DownloadProgress {
        DownloadProgress(id: id, name: "f\(id)", state: state, received: received, total: total)
    }

    func ledger(_ ids: DownloadID..., hasAll: Bool = true) -> Ledger {
        var ledger = Ledger()
        for id in ids { ledger.expect(id, .here) }
        ledger.hasAll = hasAll
        return ledger
    }

    @Test("One download has no total line")
    func one() {
        var ledger = ledger(1)
        var model = ProgressModel()
        let frame = model.frame([progress(1, received: 5, total: 10)], &ledger, time: 0, now: now)
        #expect(frame == ProgressFrame(rows: [.init(id: 1, name: "f1", received: 5, total: 10)]))
    }

    @Test("Speed and time left are computed from the observed bytes")
    func speed() {
        var ledger = ledger(1)
        var model = ProgressModel()
        _ = model.frame([progress(1, received: 1000, total: 5000)], &ledger, time: 0, now: now)
        let frame = model.frame([progress(1, received: 2000, total: 5000)], &ledger, time: 1, now: now)
        #expect(frame.rows.first?.speed == 1000)
        #expect(frame.rows.first?.time == "0:03")
    }

    @Test("Running downloads come first, then waiting and queued downloads, each by ID")
    func order() {
        var ledger = ledger(1, 2, 3, 4)
        var model = ProgressModel()
        let states = [
            progress(1, .queued), progress(2, .waiting(.retry(.cancelled), until: nil)), progress(4), progress(3),
        ]
        let frame = model.frame(states, &ledger, time: 0, now: now)
        #expect(frame.rows.map(\.name) == ["f3", "f4", "f2", "f1"])
        #expect(frame.rows.map(\.isActive) == [true, true, true, false])
    }

    @Test("The row of a waiting download shows why it waits, and when the wait ends")
    func waiting() {
        var ledger = ledger(1)
        var model = ProgressModel()
        let error = DownloadError.serverRefused(status: 503, phrase: "Busy")
        let waiting = progress(1, .waiting(.retry(error), until: now.addingTimeInterval(3.2)))
        let frame = model.frame([waiting], &ledger, time: 0, now: now)
        #expect(frame.rows.first?.note == "retry in 4 s: 503 Busy")
    }

    @Test("The time left of the total is never shorter than the time left of the slowest row")
    func slowestRow() {
        var ledger = ledger(1, 2)
        var model = ProgressModel()
        _ = model.frame(
            [progress(1, received: 0, total: 100_000), progress(2, received: 0, total: 100_000)], &ledger, time: 0,
            now: now)
        let frame = model.frame(
            [progress(1, received: 90_000, total: 100_000), progress(2, received: 1000, total: 100_000)], &ledger,
            time: 1, now: now)
        #expect(frame.rows.map(\.time) == ["0:01", "1:39"])
        #expect(frame.total?.time == "1:39")
    }

    @Test(
        "The total time left includes waits and the bytes after them; no time is shown if the end of a wait is unknown")
    func waitsCount() {
        var ledger = ledger(1, 2)
        var model = ProgressModel()
        func frame(_ time: Double, _ received: Int64, until: Date?) -> ProgressFrame {
            let waiting = progress(2, .waiting(.retry(.cancelled), until: until), received: 0, total: 10_000)
            return model.frame(
                [progress(1, received: received, total: 10_000), waiting], &ledger, time: time, now: now)
        }
        let until = now.addingTimeInterval(60)
        _ = frame(0, 0, until: until)
        #expect(frame(1, 1000, until: until).total?.time == "1:10")
        #expect(frame(2, 2000, until: nil).total?.time == nil)
    }

    @Test("The text counts cancelled and failed downloads apart; in JSON, failed includes the cancelled downloads")
    func cancelledApart() {
        var ledger = ledger(1, 2, 3)
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(id: 1, state: .cancelled))))
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(id: 2, state: .failed(.unexpected("x"))))))
        var model = ProgressModel()
        let total = model.frame([], &ledger, time: 0, now: now).total
        #expect(total?.counts == "0 done, 1 failed, 1 cancelled")
        let document = total.map(TotalDocument.init)
        #expect(document?.failed == 2 && document?.cancelled == 1)
    }

    @Test("A running download shows its phase, such as verifying")
    func finishing() {
        var ledger = ledger(1)
        var model = ProgressModel()
        var done = progress(1, received: 10, total: 10)
        done.phase = .verifying
        #expect(model.frame([done], &ledger, time: 0, now: now).rows.first?.note == "verifying")
    }

    @Test("The total counts complete downloads, and has a size only if all sizes are known")
    func total() {
        var ledger = ledger(1, 2, 3)
        var model = ProgressModel()
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(id: 3) { $0.complete(100) })))
        var frame = model.frame([progress(1, received: 10, total: 50)], &ledger, time: 0, now: now)
        #expect(frame.total == .init(downloads: 3, done: 1, failed: 0, received: 110, bytes: nil))
        frame = model.frame(
            [progress(1, received: 10, total: 50), progress(2, received: 5, total: 20)], &ledger, time: 0, now: now)
        #expect(frame.total == .init(downloads: 3, done: 1, failed: 0, received: 115, bytes: 170))
        ledger.hasAll = false
        frame = model.frame(
            [progress(1, received: 10, total: 50), progress(2, received: 5, total: 20)], &ledger, time: 0, now: now)
        #expect(frame.total?.bytes == nil)
    }

    @Test("The bytes of earlier runs do not count for the speed")
    func resumed() {
        var ledger = ledger(1, 2)
        var model = ProgressModel()
        _ = model.frame([], &ledger, time: 0, now: now)
        ledger.start(1, offset: 1_000_000)
        let frame = model.frame([progress(1, received: 1_000_500)], &ledger, time: 1, now: now)
        #expect(frame.total?.speed == 500)
    }

    @Test("A download of another process is shown while it is followed")
    func elsewhere() {
        var ledger = Ledger()
        ledger.expect(9, .elsewhere)
        ledger.hasAll = true
        var model = ProgressModel()
        model.update(progress(9, received: 1, total: 2))
        #expect(model.frame([], &ledger, time: 0, now: now).rows.map(\.name) == ["f9"])
        model.forget(9)
        #expect(model.frame([], &ledger, time: 0, now: now).rows == [])
    }

    @Test("Plain lines show each active download if at most four are active, and the total of several downloads")
    func plain() {
        let rows = (1...5).map {
            ProgressFrame.Row(id: $0, name: "f\($0)", received: 63, total: 100, speed: 10, left: 4)
        }
        let total = ProgressFrame.Total(downloads: 7, done: 1, failed: 1, received: 2048, bytes: nil, speed: 1024)
        #expect(
            PlainProgress.lines(ProgressFrame(rows: Array(rows.prefix(1))))
                == ["f1: 63%, 63/100 B, 10 B/s, 0:04 left"])
        #expect(
            PlainProgress.lines(ProgressFrame(rows: rows, total: total))
                == ["7 downloads: 1 done, 1 failed, 2.0 KiB, 1.0 KiB/s"])
        let waiting = ProgressFrame.Row(id: 8, name: "w", state: .waiting, received: 0, note: "retry in 4 s: 503 Busy")
        let idle = ProgressFrame.Row(id: 9, name: "q", state: .queued, received: 0, note: "queued")
        #expect(PlainProgress.lines(ProgressFrame(rows: [waiting, idle])) == ["w: retry in 4 s: 503 Busy"])
    }

    @Test("Failed downloads keep a row with the error, the newest first, and each download has at most one")
    func failures() {
        var ledger = ledger(1, 2)
        var model = ProgressModel()
        let gone = DownloadError.serverRefused(status: 404, phrase: "Not Found")
        for id in [1, 2, 1] as [DownloadID] {
            model.fail(DownloadSnapshot(record: .example(id: id, state: .failed(gone))))
        }
        model.fail(DownloadSnapshot(record: .example(id: 3, state: .cancelled)))
        let frame = model.frame([], &ledger, time: 0, now: now)
        #expect(frame.failures.map(\.id) == [1, 2])
        #expect(frame.failures.allSatisfy { $0.state == .failed && $0.note?.contains("404") == true })
    }

    @Test("After its end, the row of a download says that the file was verified, or had not changed on the server")
    func settled() throws {
        let verified = DownloadRecord.example {
            $0.complete(4)
            $0.completed?.checksum = Checksum(algorithm: .sha256, digest: "00")
        }
        let snapshot = DownloadSnapshot(record: verified)
        #expect(ProgressFrame.Row(settled: EndedDownload(snapshot))?.note == "sha256 verified")
        for (place, words) in [
            ("https://cd.example.org/SHA256SUMS", "sha256 verified by SHA256SUMS, same server"),
            ("https://api.github.com/repos/o/r/releases/latest", "sha256 verified by api.github.com"),
            ("Repr-Digest", "sha256 verified"),
        ] {
            var found = verified
            found.completed?.checksum = verified.completed?.checksum?.stated(in: place)
            found.completed?.verifiedBy = .server
            #expect(ProgressFrame.Row(settled: EndedDownload(DownloadSnapshot(record: found)))?.note == words)
        }
        let before = EndedDownload(before: snapshot, fate: nil)
        #expect(ProgressFrame.Row(settled: before)?.note == "complete already")
        let current = DownloadRecord.example {
            $0.complete(4)
            $0.completed?.wasCurrent = true
        }
        #expect(ProgressFrame.Row(settled: EndedDownload(DownloadSnapshot(record: current)))?.note == "is current")
        #expect(ProgressFrame.Row(settled: EndedDownload(DownloadSnapshot(record: .example(state: .cancelled)))) == nil)
    }
}
