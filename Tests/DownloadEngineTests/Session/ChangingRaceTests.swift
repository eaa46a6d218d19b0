import DownloadStorage
import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Requests at the very moment when a download begins, ends or is changed by another caller.
@Suite("SessionManager: concurrent changes", .inTurn, .timeLimit(.minutes(1)))
struct ChangingRaceTests {
    private static let content = Content(seed: 1, size: 200_000)
    private static let reply = FaultReply(content, etag: "\"a\"")
    private static let stalled = reply.with { $0.cut = .stall(after: 1) }

    @Test("If a download fails just when finish() is called, finish() does not wait for its next attempt")
    func finishDuringFailure() async throws {
        let store = GatedStore()
        let gate = StoreGate()
        store.change { $0.afterSave = { if $0.contains(where: { $0.state.kind == .waiting }) { await gate.pass() } } }
        let bench = try await SessionBench(store: store) { _, _ in .reply(FaultReply(status: 503)) }
        let id = try await bench.add()
        #expect(await gate.isReached())
        let isFinished = Observed(false)
        let manager = bench.manager
        let task = Task {
            await manager.finish()
            isFinished.update { $0 = true }
        }
        while await !manager.knownBook.isDraining { await Task.yield() }
        gate.open()
        try #require(await isFinished.wait(atMost: .seconds(45)) { $0 })
        await task.value
        #expect(try await bench.record(id).state == .paused(.terminate))
    }

    @Test("After its retry delay, a download gets its turn, even if many downloads of higher priority were queued")
    func retryBehindMany() async throws {
        let bench = try await SessionBench(maxConcurrent: 1) { request, asked in
            switch request.url.path {
            case "/a": .reply(asked.number == 1 ? FaultReply(status: 503, fields: [("Retry-After", "1")]) : Self.reply)
            default: .reply(Self.stalled)
            }
        }
        let id = try await bench.add("/a")
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        // One of the first downloads takes the slot, and leaves a gap in the part of the queue that is kept in memory
        // (`SessionBench.mostQueued`). The last ten downloads fill this gap.
        var others: [DownloadID] = []
        let many = SessionBench.mostQueued + 100
        for part in [0..<many, many..<many + 10] {
            others += try await bench.manager.add(
                part.map { try bench.request(host: "other.example", "/\($0)") { $0.priority = 5 } }
            ).map(\.record.id)
        }
        while await bench.manager.knownBook[active: id] != nil { await Task.yield() }
        _ = try await bench.manager.cancel(others)
        let isComplete = await bench.events.wait(atMost: .seconds(45)) { $0.contains { $0.word == "complete" } }
        #expect(isComplete)
    }

    @Test("If a download is resumed while it is being paused, it runs")
    func resumeDuringPause() async throws {
        let store = GatedStore()
        let gate = StoreGate()
        store.change { $0.afterChange = { if case .pause = $0 { await gate.pass() } } }
        let bench = try await SessionBench(store: store, maxConcurrent: 1) { request, _ in
            .reply(request.url.path == "/0" ? Self.stalled : Self.reply)
        }
        let ids = try await bench.manager.add([try bench.request("/0"), try bench.request("/1")]).map(\.record.id)
        #expect(await bench.transport.taken.wait { $0 == 1 })
        let manager = bench.manager
        let pausing = Task { try await manager.pause([ids[1]]) }
        #expect(await gate.isReached())
        let resuming = Task { try await manager.resume([ids[1]], overrides: RequestOverrides()) }
        for _ in 0..<2000 { await Task.yield() }
        gate.open()
        _ = try await pausing.value
        let resumed = try await resuming.value
        try #require(resumed.first?.kind == .claimed)
        _ = try await manager.cancel([ids[0]])
        #expect(await bench.events.wait { $0.contains { $0.word == "complete" } })
        #expect(await !manager.knownBook.hasPaused)
    }

    @Test("If a download is resumed at the moment when it fails, it starts again")
    func resumeDuringFailure() async throws {
        let store = GatedStore()
        let gate = StoreGate()
        store.change { $0.afterSave = { if $0.contains(where: { $0.state.kind == .failed }) { await gate.pass() } } }
        let bench = try await SessionBench(store: store) { _, asked in
            .reply(asked.number == 1 ? FaultReply(status: 404) : Self.reply)
        }
        let id = try await bench.add()
        #expect(await gate.isReached())
        let claimed = try await bench.manager.resume([id], overrides: RequestOverrides())
        try #require(claimed.first?.kind == .claimed)
        gate.open()
        let isComplete = await bench.events.wait { $0.contains { $0.word == "complete" } }
        #expect(isComplete)
    }

    @Test("If a download was stopped for a removal, and the removal fails, it is announced as paused")
    func refusedRemoval() async throws {
        let store = GatedStore()
        store.change { $0.beforeRemove = { throw DownloadError.unexpected("disk full") } }
        let bench = try await SessionBench(store: store, serving: Self.stalled)
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 1 })
        await #expect(throws: DownloadError.unexpected("disk full")) {
            try await bench.manager.remove([id], deletesFile: false)
        }
        #expect(await bench.events.wait { $0.last?.word == "pause" })
        #expect(await bench.manager.progress().map(\.state) == [.paused(.user)])
    }

    // MARK: Secrets

    @Test("Secrets are not sent to a URL that another process has set")
    func addressSetElsewhere() async throws {
        let bench = try await SessionBench(session: SessionIdentifier.background) { request, _ in
            .reply(request.url.path == "/file.bin" ? FaultReply(status: 404) : Self.reply)
        }
        let id = try await bench.add {
            $0.headers = [RequestHeader(name: "Authorization", value: "secret")]
            $0.credential = Credential(user: "me", password: "secret")
        }
        #expect(try await bench.ending(of: id).state.kind == .failed)
        #expect(bench.transport.requests[0].options.fields[.authorization] == "secret")
        let other = try SourceURL.parse("http://elsewhere.example/other").get().url
        _ = try await bench.store.change([id], .url(other, nil), session: "foreground-other")
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(bench.transport.requests[1].options.fields[.authorization] == nil)
        #expect(bench.transport.requests[1].options.credential == nil)
    }

    @Test("If a download is requested again without its secrets, it runs without them")
    func askedWithoutSecrets() async throws {
        let bench = try await SessionBench { _, _ in .reply(FaultReply(status: 404)) }
        let id = try await bench.add { $0.headers = [RequestHeader(name: "Authorization", value: "secret")] }
        _ = try await bench.ending(of: id)
        #expect(try await bench.add() == id)
        _ = try await bench.ending(of: id, times: 2)
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        _ = try await bench.ending(of: id, times: 3)
        #expect(bench.transport.requests.map { $0.options.fields[.authorization] } == ["secret", nil, nil])
    }

    // MARK: The log

    @Test("If events are dropped before a slow reader could read them, they are reported as lost")
    func droppedWhileReading() async throws {
        let store = SQLiteDownloadStore.inMemory()
        let requests = try (0..<3).map { number in
            let url = try SourceURL.parse("http://example.org/\(number)").get().url
            return DownloadRequest(url: url, destination: Destination(folder: "/nowhere"))
        }
        let reader = try await EventLogReader(store: store, since: nil)
        _ = try await store.add(requests, session: "foreground-1")
        try await store.dropEvents(keeping: 1)
        #expect(try await reader.next() == .didFinishEvents(0))
        #expect(try await reader.next() == .didLoseEvents(upTo: 2))
        guard case .event(let event)? = try await reader.next() else {
            Issue.record("no event")
            return
        }
        #expect(event.cursor == 3)
    }

    @Test("A log whose session has ended returns the last events, and then the reason")
    func ended() async throws {
        let store = GatedStore()
        let gone = DownloadError.sessionUnavailable(.notRunning("background"))
        let reader = try await EventLogReader(store: store, since: nil) { gone }
        let url = try SourceURL.parse("http://example.org/a").get().url
        _ = try await store.add(
            [DownloadRequest(url: url, destination: Destination(folder: "/nowhere"))], session: "background")
        #expect(try await reader.next() == .didFinishEvents(0))
        guard case .event(let event)? = try await reader.next() else {
            Issue.record("no event")
            return
        }
        #expect(event.kind == .added)
        await #expect(throws: gone) { try await reader.next() }
    }
}
