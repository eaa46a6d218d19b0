import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Ledger: the downloads that a command waits for", .inTurn, .serialized)
struct LedgerTests {
    func completed(_ id: DownloadID, bytes: Int64 = 4) -> DownloadSnapshot {
        DownloadSnapshot(record: .example(id: id) { $0.complete(bytes) })
    }

    func failed(_ id: DownloadID, _ error: DownloadError) -> DownloadSnapshot {
        DownloadSnapshot(record: .example(id: id, state: .failed(error)))
    }

    @Test("The ledger is done when all downloads were added and each has ended")
    func done() {
        var ledger = Ledger()
        ledger.expect(1, .here)
        ledger.expect(2, .elsewhere)
        #expect(!ledger.isDone)
        let areNews = [ledger.end(EndedDownload(completed(1))), ledger.end(EndedDownload(completed(2)))]
        #expect(areNews == [true, true])
        #expect(!ledger.isDone)
        ledger.hasAll = true
        #expect(ledger.isDone)
        #expect(ledger.exitStatus == 0)
        #expect(ledger.tally.completedBytes == 8)
    }

    @Test("If a download ends before `add` has returned, it counts once")
    func early() {
        var ledger = Ledger()
        let isNews = ledger.end(EndedDownload(completed(1)))
        #expect(isNews)
        ledger.expect(1, .here)
        ledger.hasAll = true
        #expect(ledger.isDone)
        #expect(ledger.count == 1)
    }

    @Test("If a download is named again after its end, it is awaited again, but reported only once")
    func twice() {
        var ledger = Ledger()
        ledger.expect(1, .here)
        let first = ledger.end(EndedDownload(completed(1)))
        ledger.expect(1, .here)
        ledger.hasAll = true
        #expect(!ledger.isDone)
        let second = ledger.end(EndedDownload(completed(1)))
        #expect(first && !second)
        #expect(ledger.isDone)
        #expect(ledger.tally.completed == 1)
    }

    @Test(
        "If a second request joins a download of this process, it is not awaited as one of another process")
    func joinsOwn() {
        var ledger = Ledger()
        ledger.expect(1, .here)
        ledger.expect(1, .elsewhere)
        #expect(ledger.elsewhere == [])
        _ = ledger.end(EndedDownload(completed(1)))
        ledger.expect(1, .elsewhere)
        ledger.hasAll = true
        #expect(ledger.isDone)
    }

    @Test("An adopted download counts as a download of this process")
    func takenOver() {
        var ledger = Ledger()
        ledger.expect(1, .elsewhere)
        ledger.expect(1, .here)
        #expect(ledger.here == [1] && ledger.elsewhere == [])
    }

    @Test("Failures of one kind give their status, and several kinds give 1")
    func statuses() {
        var ledger = Ledger()
        ledger.expect(1, .here)
        _ = ledger.end(EndedDownload(completed(1)))
        #expect(ledger.exitStatus == 0)
        _ = ledger.end(EndedDownload(failed(2, .serverRefused(status: 404, phrase: "Not Found"))))
        _ = ledger.end(EndedDownload(failed(3, .serverRefused(status: 500, phrase: ""))))
        #expect(ledger.exitStatus == 8)
        ledger.failures.reject(status: 2)
        #expect(ledger.exitStatus == 1)
        #expect(ledger.failures.ids == [2, 3])
    }

    @Test("A cancelled download gives exit status 11")
    func cancelled() {
        var ledger = Ledger()
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(state: .cancelled))))
        #expect(ledger.exitStatus == 11)
    }

    @Test(
        "The offset is the one given at the start, or 0; with another process, it is the first count of bytes seen")
    func offsets() {
        var ledger = Ledger()
        ledger.expect(1, .here)
        ledger.expect(2, .elsewhere)
        let own = ledger.offset(of: 1, received: 70)
        let other = [ledger.offset(of: 2, received: 50), ledger.offset(of: 2, received: 60)]
        #expect(own == 0)
        #expect(other == [50, 50])
        ledger.start(1, offset: 60)
        let told = ledger.offset(of: 1, received: 80)
        #expect(told == 60)
    }

    @Test("A list of more than 50 downloads is long, even while its downloads are being added")
    func long() {
        var ledger = Ledger()
        for id in 1...50 as ClosedRange<DownloadID> { ledger.expect(id, .here) }
        #expect(!ledger.isLong)
        ledger.expect(51, .here)
        #expect(ledger.isLong)
        var asked = Ledger()
        asked.asked += 40
        #expect(!asked.isLong)
        asked.asked += 11
        #expect(asked.isLong)
    }

    @Test("Only the bytes that this process fetched are counted as fetched")
    func fetched() {
        var ledger = Ledger()
        ledger.expect(1, .here)
        ledger.start(1, offset: 60)
        ledger.start(1, offset: 80)
        _ = ledger.end(EndedDownload(completed(1, bytes: 100)))
        #expect(ledger.tally.fetchedBytes == 40)
        let current = DownloadSnapshot(
            record: .example(id: 2) {
                $0.complete(100)
                $0.completed?.wasCurrent = true
            })
        _ = ledger.end(EndedDownload(current))
        #expect(ledger.tally.fetchedBytes == 40)
        #expect(ledger.tally.completedBytes == 200)
    }

    @Test("`looks` returns the other processes' downloads that transfer bytes, or one download if none does")
    func looks() {
        var ledger = Ledger()
        for id in 1...5 { ledger.expect(DownloadID(id), .elsewhere) }
        #expect(ledger.looks(limit: 3).count == 1)
        for id in [5, 2, 4, 3, 9] as [DownloadID] { ledger.see(id, isAtWork: true) }
        #expect(ledger.looks(limit: 3) == [2, 3, 4])
        ledger.see(2, isAtWork: false)
        let isNews = ledger.end(EndedDownload(completed(3)))
        #expect(isNews)
        ledger.expect(4, .here)
        #expect(ledger.looks(limit: 3) == [5])
    }

    @Test("A pause and its end are reported once each")
    func standing() {
        var ledger = Ledger()
        ledger.expect(1, .elsewhere)
        let news = [ledger.goOn(1), ledger.stand(1), ledger.stand(1), ledger.goOn(1), ledger.goOn(1), ledger.stand(1)]
        #expect(news == [false, true, false, true, false, true])
    }

    @Test("With `isOver`, the ledger is done, even with downloads that have not ended")
    func over() {
        var ledger = Ledger()
        ledger.expect(1, .elsewhere)
        ledger.failures.reject(status: 1)
        ledger.isOver = true
        #expect(ledger.isDone && ledger.exitStatus == 1)
    }
}
