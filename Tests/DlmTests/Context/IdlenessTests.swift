import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("When watch without IDs ends", .inTurn, .serialized)
struct IdlenessTests {
    func snapshot(_ state: DownloadState, session: String? = "background", isAttended: Bool) -> DownloadSnapshot {
        var snapshot = DownloadSnapshot(record: .example(state: state) { $0.session = session })
        snapshot.isAttended = isAttended
        return snapshot
    }

    func expect(
        _ isOver: Bool, _ idleness: inout Idleness, _ left: [DownloadSnapshot], now: ContinuousClock.Instant,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let answer = idleness.isOver(left, now: now)
        #expect(answer == isOver, sourceLocation: location)
    }

    @Test("watch does not end while a download runs, is queued or waits")
    func busy() {
        var idleness = Idleness()
        for state in [.running, .queued, .waiting(.retry(.cancelled), until: nil)] as [DownloadState] {
            expect(false, &idleness, [snapshot(state, isAttended: true)], now: .now)
        }
    }

    @Test("watch ends at once if no downloads are left, or all were paused by the user or have no session")
    func nothing() {
        var idleness = Idleness()
        idleness.isBusy()
        let paused = [
            snapshot(.paused(.user), isAttended: true), snapshot(.paused(.user), isAttended: false),
            snapshot(.paused(.terminate), session: nil, isAttended: false),
        ]
        expect(true, &idleness, [], now: .now)
        expect(true, &idleness, paused, now: .now)
    }

    @Test(
        "watch waits ten seconds, so that a background session has time to restart",
        arguments: [.queued, .paused(.terminate)] as [DownloadState])
    func restart(state: DownloadState) {
        var idleness = Idleness()
        let left = [snapshot(state, isAttended: false)]
        let now = ContinuousClock.now
        expect(true, &idleness, left, now: now)
        idleness.isBusy()
        expect(false, &idleness, left, now: now)
        expect(false, &idleness, left, now: now + .seconds(9))
        expect(true, &idleness, left, now: now + .seconds(11))
        idleness.isBusy()
        expect(false, &idleness, left, now: now + .seconds(12))
    }
}
