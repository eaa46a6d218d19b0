import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// A background session that starts again under its identifier.
@Suite("SessionManager: background sessions", .inTurn, .timeLimit(.minutes(3)))
struct BackgroundSessionTests {
    private static let content = Content(seed: 3, size: 600_000)
    private static let reply = FaultReply(content, etag: "\"a\"")
    private static let stalling = reply.with { $0.cut = .stall(after: 400_000) }

    private static func bench(
        after earlier: SessionBench? = nil, _ script: @escaping FakeTransport.Script
    ) async throws -> SessionBench {
        try await SessionBench(
            after: earlier, session: SessionIdentifier.background, maxConcurrent: 2, maxPerHost: 2, script)
    }

    @Test("Downloads that the last session had begun are resumed in order; those that the user paused are not")
    func comesBack() async throws {
        let first = try await Self.bench { _, _ in .reply(Self.stalling) }
        try await first.manager.start()
        let ids = try await first.manager.add((0..<6).map { try first.request("/\($0)") }).map(\.record.id)
        #expect(await first.transport.taken.wait { $0 == 800_000 })
        _ = try await first.manager.pause([ids[3]])
        await first.manager.pauseAll(.terminate)
        // A client that asks now must wait for the next session.
        await #expect(throws: DownloadError.sessionUnavailable(.shuttingDown)) { try await first.manager.status() }
        let kept = try await first.store.records(.ids(ids))
        let states: [DownloadState] = [
            .paused(.terminate), .paused(.terminate), .queued, .paused(.user), .queued, .queued,
        ]
        #expect(kept.map(\.state) == states)
        #expect(kept.allSatisfy { $0.session == SessionIdentifier.background })
        await first.manager.close()

        // Neither of the two running downloads may complete. The next queued download would get the slot, perhaps
        // before the second running download has sent its request.
        let second = try await Self.bench(after: first) { _, _ in
            .reply(Self.reply.with { $0.cut = .stall(after: 1) })
        }
        try await second.manager.start()
        #expect(await second.transport.taken.wait { $0 == 2 })
        #expect(Set(second.transport.requests.map(\.url.path)) == ["/0", "/1"])
        #expect(second.ranges == [rest(from: 400_000), rest(from: 400_000)])
        await second.manager.pauseAll(.terminate)
        await second.manager.close()

        let third = try await Self.bench(after: second) { _, _ in .reply(Self.reply) }
        try await third.manager.start()
        for id in ids where id != ids[3] { #expect(try await third.ending(of: id).state == .completed) }
        #expect(third.transport.requests.count == 5)
        #expect(try await third.record(ids[3]).state == .paused(.user))
        for name in [0, 1, 2, 4, 5] { #expect(try third.holds("\(name)", Self.content)) }
        await third.manager.close()
    }

    @Test("If secrets are given again while the session begins a download without them, they are not lost")
    func secretsGivenAgain() async throws {
        let bench = try await Self.bench { _, _ in .reply(Self.reply) }
        var overrides = RequestOverrides()
        overrides.credential = Credential(user: "me", password: "secret")
        var request = try bench.request("/a")
        request.credential = Credential(user: "me", password: nil)
        let id = try await bench.store.add([request], session: SessionIdentifier.background)[0].record.id
        try await bench.manager.start()
        _ = try await bench.manager.resume([id], overrides: overrides)
        // The first end is that of the attempt without the password, so the test waits for the second end.
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        await bench.manager.close()
    }

    @Test("finish() lets running downloads end, begins none, and pauses those that wait for a retry")
    func finish() async throws {
        let bench = try await Self.bench { request, _ in
            request.url.path == "/1" ? .reply(FaultReply(status: 500)) : .reply(Self.reply)
        }
        // The bodies stop after their first pieces until the session is finishing.
        let isFinishing = DispatchSemaphore(value: 0)
        bench.transport.onTaken.withLock {
            $0 = { _ in
                _ = isFinishing.wait(timeout: .now() + 30)
                isFinishing.signal()
            }
        }
        try await bench.manager.start()
        let manager = bench.manager
        let requests = try (0..<4).map { number in
            try bench.request("/\(number)") {
                if number == 1 { $0.retry = RetryPolicy(limit: 1, delay: .seconds(3600), maximumDelay: .seconds(3600)) }
            }
        }
        let ids = try await manager.add(requests).map(\.record.id)
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        // The delay before a retry needs no slot, so the third download has begun. The fourth waits for a slot.
        #expect(await bench.transport.waitForRequests(3))
        let finishing = Task { await manager.finish() }
        while await !manager.knownBook.isDraining { await Task.yield() }
        isFinishing.signal()
        await finishing.value
        let states = try await bench.store.records(.ids(ids)).map(\.state)
        #expect(states == [.completed, .paused(.terminate), .completed, .queued])
        #expect(bench.transport.requests.map(\.url.path).sorted() == ["/0", "/1", "/2"])
        await #expect(throws: DownloadError.sessionUnavailable(.shuttingDown)) {
            try await bench.manager.add([try bench.request("/late")])
        }
        await bench.manager.close()
    }

    @Test("The mode of a shutdown request reaches the process of the session; the status shows the running downloads")
    func statusAndShutdown() async throws {
        let bench = try await Self.bench { _, _ in .reply(Self.stalling) }
        try await bench.manager.start()
        _ = try await bench.manager.add((0..<5).map { try bench.request("/\($0)") })
        #expect(await bench.transport.taken.wait { $0 == 800_000 })
        try await bench.manager.configure(SessionSettings(maxPerHost: 3, rateLimit: 5_000))
        let status = try await bench.manager.status()
        #expect(status.identifier == SessionIdentifier.background)
        #expect(status.pid == getpid())
        #expect(status.running == 2 && status.waiting == 0)
        #expect(status.settings == SessionSettings(maxConcurrent: 2, maxPerHost: 3, rateLimit: 5_000))
        try await bench.manager.shutdown(.finish)
        var requests = bench.manager.shutdownRequests.makeAsyncIterator()
        #expect(await requests.next() == .finish)
        await bench.manager.close()
        #expect(await requests.next() == nil)
    }

    @Test("A higher limit takes effect at once")
    func moreRoom() async throws {
        let bench = try await Self.bench { _, _ in .reply(Self.stalling) }
        try await bench.manager.start()
        _ = try await bench.manager.add((0..<5).map { try bench.request("/\($0)") })
        #expect(await bench.transport.taken.wait { $0 == 800_000 })
        try await bench.manager.configure(SessionSettings(maxConcurrent: 4, maxPerHost: 4))
        #expect(await bench.transport.taken.wait { $0 == 1_600_000 })
        #expect(bench.transport.requests.count == 4)
        await bench.manager.close()
    }

    @Test("A host whose downloads fill the queue does not keep other hosts from their slots")
    func busyHost() async throws {
        let bench = try await SessionBench(
            session: SessionIdentifier.background, maxConcurrent: 4, maxPerHost: 2
        ) { request, _ in .reply(request.url.host == "slow.example" ? Self.stalling : Self.reply) }
        try await bench.manager.start()
        let slow = try await bench.manager.add((0..<1500).map { try bench.request(host: "slow.example", "/s\($0)") })
        #expect(await bench.transport.taken.wait { $0 == 800_000 })
        let quick = try await bench.manager.add((0..<300).map { try bench.request(host: "quick.example", "/q\($0)") })
        for download in quick { #expect(try await bench.ending(of: download.record.id).state == .completed) }
        #expect(bench.transport.requests.count { $0.url.host == "slow.example" } == 2)
        let order = bench.transport.requests.filter { $0.url.host == "quick.example" }.map(\.url.path)
        #expect(order.first == "/q0" || order.first == "/q1")
        _ = try await bench.manager.cancel(slow.prefix(1).map(\.record.id))
        #expect(await bench.transport.waitForRequests(303))
        #expect(bench.transport.requests.last?.url.path == "/s2")
        await bench.manager.close()
    }
}
