import DownloadTestSupport
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Two concurrent operations of a session. Whichever ends first, nothing is forgotten or undone.
@Suite("SessionManager: order of concurrent operations", .inTurn, .timeLimit(.minutes(1)))
struct SessionRaceTests {
    private static let content = Content(seed: 1, size: 600_000)
    private static let reply = FaultReply(content, etag: "\"a\"")
    private static let stalled = reply.with { $0.cut = .stall(after: 400_000) }

    /// Yields often enough that anything wrong would happen meanwhile.
    private func letOthersRun() async { for _ in 0..<3000 { await Task.yield() } }

    // MARK: The queue is being read

    @Test(
        "If a download is added or resumed while the queue is being read, it starts with its secrets",
        arguments: [false, true])
    func secretsDuringLoad(isResumed: Bool) async throws {
        let store = GatedStore()
        let (adding, loading) = (StoreGate(), StoreGate())
        let bench = try await SessionBench(store: store, session: SessionIdentifier.background, serving: Self.reply)
        let header = RequestHeader(name: "Authorization", value: "secret")
        let request = try bench.request { $0.headers = [header] }
        if isResumed {
            var record = try #require(try await store.inner.add([request], session: bench.manager.identifier).first)
                .record
            record.state = .paused(.user)
            _ = try await store.inner.save([record], session: bench.manager.identifier)
        }
        store.change {
            $0.beforeQueued = { await loading.pass() }
            $0.afterAdd = { await adding.pass() }
            $0.afterClaim = { await adding.pass() }
        }
        let manager = bench.manager
        let starting = Task { try await manager.start() }
        #expect(await loading.isReached())
        let asked = Task {
            var overrides = RequestOverrides()
            overrides.headers = [header]
            if isResumed { return try await manager.resume([1], overrides: overrides).map(\.record.id) }
            return try await manager.add([request]).map(\.record.id)
        }
        #expect(await adding.isReached())
        loading.open()
        try await starting.value
        await letOthersRun()
        adding.open()
        let id = try #require(try await asked.value.first)
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.transport.requests.map { $0.options.fields[.authorization] } == ["secret"])
    }

    @Test("A download that got no place in memory starts later, even if the store was being read for other hosts")
    func leftDuringLoad() async throws {
        let store = GatedStore()
        let gate = StoreGate()
        store.change { $0.afterBeyond = { await gate.pass() } }
        let bench = try await SessionBench(store: store, maxConcurrent: 2, maxPerHost: 1) { request, _ in
            .reply(request.url.host == "example.org" ? Self.stalled : Self.reply)
        }
        let manager = bench.manager
        let requests = try (0..<600).map { try bench.request("/\($0)") }
        let adding = Task { try await manager.add(requests) }
        #expect(await gate.isReached())
        let other = try bench.request(host: "other.example", "/x") { $0.priority = -1 }
        let id = try #require(try await manager.add([try bench.request("/601"), other]).last).record.id
        gate.open()
        _ = try await adding.value
        #expect(try await bench.ending(of: id).state == .completed)
    }

    @Test("A download that got no place in memory starts later, even if the store had already read the queue")
    func leftAfterAnswer() async throws {
        let store = GatedStore()
        let gate = StoreGate()
        store.change { $0.afterQueued = { await gate.pass() } }
        let bench = try await SessionBench(
            store: store, session: SessionIdentifier.background, serving: FaultReply(status: 404))
        let manager = bench.manager
        let starting = Task { try await manager.start() }
        #expect(await gate.isReached())
        // These are more downloads than fit into the window.
        _ = try await manager.add((0..<530).map { try bench.request("/\($0)") })
        gate.open()
        try await starting.value
        #expect(await bench.ends.wait(atMost: .seconds(40)) { $0.count == 530 })
    }

    @Test("finish() begins nothing, not even a download that is being read from the store")
    func finishDuringLoad() async throws {
        let store = GatedStore()
        let gate = StoreGate()
        store.change { $0.beforeQueued = { await gate.pass() } }
        let bench = try await SessionBench(store: store, session: SessionIdentifier.background, serving: Self.reply)
        _ = try await store.inner.add([try bench.request()], session: bench.manager.identifier)
        let manager = bench.manager
        let starting = Task { try await manager.start() }
        #expect(await gate.isReached())
        await manager.finish()
        gate.open()
        try await starting.value
        await letOthersRun()
        #expect(bench.transport.requests.isEmpty)
        #expect(try await bench.record(1).state == .queued)
    }

    // MARK: Something is being saved

    @Test("If another session took over a download, this session announces no pause and drops it from its book")
    func lostWhilePausing() async throws {
        let store = GatedStore()
        let bench = try await SessionBench(store: store, serving: Self.stalled)
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 400_000 })
        let owned = DownloadError.sessionUnavailable(.ownedElsewhere(id, session: "another"))
        store.change {
            $0.loses = { $0.state.kind == .paused }
            $0.beforeChange = { _ in throw owned }
        }
        await #expect(throws: owned) { try await bench.manager.pause([id]) }
        #expect(await bench.events.wait { $0.contains(where: \.isEnd) })
        #expect(bench.words(id).last == "fail")
        #expect(await !bench.manager.knownBook.hasPaused)
        #expect(await bench.manager.knownBook.unsavedCount == 0)
    }

    @Test("A change between two attempts does not undo a later pause")
    func changedWhileWaiting() async throws {
        let store = GatedStore()
        let (gate, isPaused) = (StoreGate(), Observed(false))
        store.change {
            $0.beforeSave = { records in
                if records.contains(where: { $0.state.kind == .waiting && $0.request.priority == 7 }) {
                    await gate.pass()
                }
            }
            $0.afterSave = { if $0.contains(where: { $0.state.kind == .paused }) { isPaused.update { $0 = true } } }
        }
        let bench = try await SessionBench(store: store) { _, _ in
            .reply(FaultReply(status: 503, fields: [("Retry-After", "60")]))
        }
        let id = try await bench.add()
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        let manager = bench.manager
        let changing = Task { try await manager.change([id], .priority(7)) }
        #expect(await gate.isReached())
        let pausing = Task { try await manager.pause([id]) }
        while await manager.knownBook.waiters.changes.isEmpty, !isPaused.value { await Task.yield() }
        #expect(!isPaused.value)
        gate.open()
        #expect(try await changing.value.map(\.didChange) == [true])
        #expect(try await pausing.value.map(\.didChange) == [true])
        let record = try await bench.record(id)
        #expect(record.state == .paused(.user) && record.request.priority == 7)
    }

    @Test("A change of a download that is just being paused between two attempts is made after the pause")
    func changedWhilePausing() async throws {
        let (store, gate, isAnswered) = (GatedStore(), StoreGate(), Observed(false))
        store.change { gates in
            gates.beforeSave = { if $0.contains(where: { $0.state.kind == .paused }) { await gate.pass() } }
        }
        let bench = try await SessionBench(store: store) { _, _ in
            .reply(FaultReply(status: 503, fields: [("Retry-After", "60")]))
        }
        let id = try await bench.add()
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        let manager = bench.manager
        let pausing = Task { try await manager.pause([id]) }
        #expect(await gate.isReached())
        let changing = Task {
            defer { isAnswered.update { $0 = true } }
            return try await manager.change([id], .priority(7))
        }
        await letOthersRun()
        gate.open()
        #expect(try await pausing.value.map(\.didChange) == [true])
        try #require(await isAnswered.wait(atMost: .seconds(20)) { $0 })
        #expect(try await changing.value.map(\.didChange) == [true])
        let record = try await bench.record(id)
        #expect(record.state == .paused(.user) && record.request.priority == 7)
    }

    @Test("A checkpoint does not undo a later pause, however many checkpoints came before")
    func checkpointWhilePausing() async throws {
        let store = GatedStore()
        let (first, second) = (StoreGate(), StoreGate())
        let (count, isPaused, isCancelled) = (Observed(0), Observed(false), Observed(false))
        let bench = try await SessionBench(store: store, serving: Self.stalled)
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 400_000 })
        let manager = bench.manager
        let control = try #require(await manager.knownBook[active: id]?.control)
        store.change {
            $0.beforeSave = { records in
                guard records.contains(where: { $0.state == .running }) else { return }
                switch count.update({
                    $0 += 1; return $0
                }) {
                // The saves are a checkpoint, the change that waits for it, and the next checkpoint.
                case 1: await first.pass()
                case 3: await second.pass()
                default: break
                }
            }
            $0.afterSave = { if $0.contains(where: { $0.state.kind == .paused }) { isPaused.update { $0 = true } } }
        }
        control.send(.flushed)
        #expect(await first.isReached())
        let changing = Task { try await manager.change([id], .priority(7)) }
        await letOthersRun()
        control.send(.flushed)
        first.open()
        #expect(try await changing.value.map(\.didChange) == [true])
        #expect(await second.isReached())
        await letOthersRun()
        bench.transport.onCancel.withLock { $0 = { isCancelled.update { $0 = true } } }
        let pausing = Task { try await manager.pause([id]) }
        // The attempt has ended its transfer, and only the second checkpoint delays the save of the pause.
        #expect(await isCancelled.wait { $0 })
        await letOthersRun()
        #expect(!isPaused.value)
        second.open()
        #expect(try await pausing.value.map(\.didChange) == [true])
        await letOthersRun()
        #expect(try await bench.record(id).state == .paused(.user))
    }

    @Test("The end of a session waits for a change between two attempts, and then pauses the download")
    func endDuringChange() async throws {
        let store = GatedStore()
        let gate = StoreGate()
        store.change { $0.beforeChange = { _ in await gate.pass() } }
        let bench = try await SessionBench(store: store, maxConcurrent: 1) { request, _ in
            .reply(request.url.path == "/a" ? FaultReply(status: 503) : Self.stalled)
        }
        let ids = try await bench.manager.add([try bench.request("/a"), try bench.request("/b")]).map(\.record.id)
        #expect(await bench.transport.taken.wait { $0 == 400_000 })
        let manager = bench.manager
        while await manager.knownBook[queued: ids[0]] == nil { await Task.yield() }
        let changing = Task { try await manager.change([ids[0]], .priority(7)) }
        #expect(await gate.isReached())
        let ending = Task { await manager.pauseAll(.interrupt) }
        while await manager.knownBook.endReason == nil { await Task.yield() }
        await letOthersRun()
        gate.open()
        await ending.value
        _ = try await changing.value
        for id in ids { #expect(try await bench.record(id).state == .paused(.interrupt)) }
    }
}
