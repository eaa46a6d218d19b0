import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("Pauses that servers ask for", .inTurn, .timeLimit(.minutes(1)))
struct HostPauseTests {
    private let now = ContinuousClock.now

    /// Expects the answer of a method that changes the scheduler.
    private func holds(_ answer: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(answer, sourceLocation: sourceLocation)
    }

    private func scheduler() -> Scheduler {
        var scheduler = Scheduler(maxConcurrent: 8, maxPerOrigin: 8)
        for id in 1...3 as ClosedRange<DownloadID> { scheduler.add(.init(id: id, origin: "a", priority: 0)) }
        return scheduler
    }

    @Test("A pause keeps the downloads of its origin from starting until its end")
    func keeps() {
        var scheduler = scheduler()
        scheduler.pause("a", .init(end: now + .seconds(10), status: 503, causes: [9]))
        scheduler.pause("a", .init(end: now + .seconds(5), status: 429, causes: [8]))
        #expect(scheduler.pauses["a"] == .init(end: now + .seconds(10), status: 429, causes: [8, 9]))
        holds(scheduler.start() == nil)
        #expect(scheduler.saturatedOrigins == ["a"])
        #expect(scheduler.earliestRelease == now + .seconds(10))
        holds(!scheduler.releaseHolds(at: now + .seconds(9)))
        holds(scheduler.releaseHolds(at: now + .seconds(10)))
        holds(scheduler.start() == 1)
    }

    @Test("A pause ends when no download that caused it waits any more")
    func causes() {
        var scheduler = scheduler()
        for id in [8, 9] as [DownloadID] { scheduler.waits(id, for: "a") }
        scheduler.pause("a", .init(end: now + .seconds(10), status: 503, causes: [8, 9]))
        scheduler.doesNotWait(8)
        holds(scheduler.start() == nil)
        scheduler.doesNotWait(9)
        holds(scheduler.start() == 1)
    }

    @Test("A resumed download starts despite the pause, and only that one")
    func resumed() {
        var scheduler = scheduler()
        scheduler.startDespitePause([2])
        scheduler.pause("a", .init(end: now + .seconds(10), status: 503, causes: [9]))
        holds(scheduler.start() == nil)
        scheduler.startDespitePause([2])
        holds(scheduler.start() == 2)
        holds(scheduler.start() == nil)
        scheduler.endPause(of: "a")
        holds(scheduler.start() == 1)
    }

    /// Makes a session with a download that was told to wait for a day, and another one of the same server.
    private func paused(limit: Double = 600) async throws -> (SessionBench, culprit: DownloadID, other: DownloadID) {
        let bench = try await SessionBench(maxConcurrent: 1, time: ManualTime()) { request, _ in
            request.url.path == "/busy"
                ? .reply(FaultReply(status: 503, fields: [("Retry-After", "86400")]))
                : .reply(FaultReply(Content("x")))
        }
        let requests = try ["/busy", "/same"].map { path in
            try bench.request(path) { $0.retry.maximumHostPause = .seconds(limit) }
        }
        let ids = try await bench.manager.add(requests).map(\.record.id)
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        return (bench, ids[0], ids[1])
    }

    @Test("A download that waits for the end of a pause is shown with the reason and the end")
    func shown() async throws {
        let (bench, _, other) = try await paused()
        let snapshot = try #require(try await bench.manager.snapshots(.ids([other])).first)
        guard case .waiting(.server(503), let until?) = snapshot.state, snapshot.record.state == snapshot.state else {
            Issue.record("\(snapshot.state)")
            return
        }
        #expect(abs(until.timeIntervalSince(bench.manager.parts.time.date) - 600) < 1)
        #expect(try await bench.record(other).state == .queued)
        let pauses = try await bench.manager.status().hostPauses ?? []
        #expect(pauses.map(\.status) == [503] && pauses.first?.causes.count == 1)
        await bench.manager.close()
    }

    @Test("A resume lets the download try at once, and its success ends the pause")
    func resume() async throws {
        let (bench, _, other) = try await paused()
        _ = try await bench.manager.resume([other], overrides: RequestOverrides())
        #expect(try await bench.ending(of: other).state == .completed)
        #expect(try await bench.manager.status().hostPauses == nil)
        await bench.manager.close()
    }

    @Test("The removal of the download that caused a pause ends it")
    func removal() async throws {
        let (bench, culprit, other) = try await paused()
        try await bench.manager.remove([culprit], deletesFile: false)
        #expect(try await bench.ending(of: other).state == .completed)
        await bench.manager.close()
    }
}
