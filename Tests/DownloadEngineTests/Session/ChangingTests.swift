import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// All changes of single downloads of a session, in any state of the download.
@Suite("SessionManager: changing single downloads", .inTurn, .timeLimit(.minutes(3)))
struct ChangingTests {
    private static let content = Content(seed: 1, size: 2_000_000)
    private static let reply = FaultReply(content, etag: "\"a\"")

    /// Returns a session whose first request stalls after 700,001 bytes; later requests do not stall.
    private static func stallingOnce() async throws -> SessionBench {
        try await SessionBench { _, asked in
            .reply(asked.number == 1 ? reply.with { $0.cut = .stall(after: 700_001) } : reply)
        }
    }

    @Test("A running download is paused with exact resume data, stays with its session, and can be resumed")
    func pauseRunning() async throws {
        let bench = try await Self.stallingOnce()
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 700_001 })
        let changed = try await bench.manager.pause([id])
        #expect(changed.map(\.didChange) == [true])
        let paused = try await bench.record(id)
        #expect(paused.state == .paused(.user))
        #expect(paused.session == bench.manager.identifier)
        #expect(paused.resume.written == ByteRanges([0..<700_001]))
        #expect(await bench.manager.progress().map(\.state) == [.paused(.user)])
        #expect(try await bench.manager.pause([id]).map(\.didChange) == [false])

        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(bench.words(id) == ["add", "start 0", "pause", "resume", "start 700001", "complete"])
        #expect(bench.ranges == ["0-", rest(from: 700_001)])
        #expect(try bench.holds("file.bin", Self.content))
        #expect(await bench.manager.progress().isEmpty)
    }

    @Test("A cancelled download ends, keeps its bytes, and can be resumed")
    func cancelRunning() async throws {
        let bench = try await Self.stallingOnce()
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 700_001 })
        #expect(try await bench.manager.cancel([id]).map(\.didChange) == [true])
        let cancelled = try await bench.record(id)
        #expect(cancelled.state == .cancelled)
        #expect(cancelled.session == nil)
        #expect(cancelled.resume.written == ByteRanges([0..<700_001]))
        #expect(try await bench.manager.cancel([id]).map(\.didChange) == [false])
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(bench.ranges == ["0-", rest(from: 700_001)])
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test("A download can be paused and resumed while it is queued or waits for its next attempt")
    func pauseWaiting() async throws {
        let bench = try await SessionBench(maxConcurrent: 1) { request, _ in
            request.url.path == "/a"
                ? .reply(FaultReply(status: 504, fields: [("Retry-After", "60")]))
                : .reply(Self.reply.with { $0.cut = .stall(after: 1) })
        }
        let ids = try await bench.manager.add([
            try bench.request("/a"), try bench.request("/b"), try bench.request("/c"),
        ]).map(\.record.id)
        #expect(await bench.events.wait { $0.contains { $0.word == "retry" } })
        #expect(await bench.transport.taken.wait { $0 == 1 })
        #expect(try await bench.manager.pause(ids).map(\.didChange) == [true, true, true])
        let paused = try await bench.store.records(.ids(ids))
        #expect(paused.allSatisfy { $0.state == .paused(.user) && $0.session == bench.manager.identifier })
        #expect(await bench.manager.progress().count == 3)
        _ = try await bench.manager.resume(ids, overrides: RequestOverrides())
        #expect(await bench.transport.waitForRequests(4))
        // When the session ends, its paused downloads no longer belong to a session.
        _ = try await bench.manager.pause([ids[2]])
        await bench.manager.pauseAll(.interrupt)
        #expect(try await bench.store.records(.ids(ids)).allSatisfy { $0.state.kind == .paused && $0.session == nil })
    }

    @Test("A new priority takes effect at once, for the queued downloads in memory and in the store")
    func priority() async throws {
        let bench = try await SessionBench(maxConcurrent: 1) { request, _ in
            .reply(request.url.path == "/0" ? Self.reply.with { $0.cut = .stall(after: 1) } : FaultReply(status: 404))
        }
        let ids = try await bench.manager.add((0..<700).map { try bench.request("/\($0)") }).map(\.record.id)
        #expect(await bench.transport.taken.wait { $0 == 1 })
        #expect(try await bench.manager.change([ids[5], ids[699]], .priority(7)).map(\.didChange) == [true, true])
        let late = try await bench.add("/late") { $0.priority = 8 }
        _ = try await bench.manager.cancel([ids[0]])
        #expect(await bench.transport.waitForRequests(701, atMost: .seconds(150)))
        let order = bench.transport.requests.map(\.url.path)
        #expect(order.prefix(5) == ["/0", "/late", "/5", "/699", "/1"])
        #expect(Set(order).count == 701)
        #expect(try await bench.record(late).request.priority == 8)
    }

    @Test("A rate limit can be changed while the download runs, and is kept")
    func rateLimit() async throws {
        let bench = try await Self.stallingOnce()
        let id = try await bench.add { $0.rateLimit = 5 }
        #expect(await bench.transport.taken.wait { $0 == 700_001 })
        let limits = bench.transport.requests[0].rateLimits
        #expect(limits.map(\.bytesPerSecond) == [nil, 5])
        #expect(try await bench.manager.change([id], .rateLimit(7)).map(\.didChange) == [true])
        try await bench.manager.configure(SessionSettings(rateLimit: 9))
        #expect(limits.map(\.bytesPerSecond) == [9, 7])
        #expect(try await bench.record(id).request.rateLimit == 7)
        try await bench.manager.configure(SessionSettings(rateLimit: 0))
        _ = try await bench.manager.pause([id])
        _ = try await bench.manager.change([id], .rateLimit(nil))
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: id, times: 2).state == .completed)
        #expect(bench.transport.requests[1].rateLimits.map(\.bytesPerSecond) == [nil, nil])
    }

    @Test("The rest of a file is fetched from a new URL if the new URL has the same file", arguments: [false, true])
    func otherAddress(_ isRunning: Bool) async throws {
        let bench = try await SessionBench { request, asked in
            switch request.url.path {
            case "/file.bin": .reply(Self.reply.with { $0.cut = .stall(after: 700_001) })
            // The same file with other validators, as on a mirror.
            case "/right": .reply(FaultReply(Self.content, etag: "\"other\""))
            default: .reply(FaultReply(Content(seed: 2, size: 2_000_000), etag: "\"a\""))
            }
        }
        let id = try await bench.add { $0.headers = [RequestHeader(name: "Authorization", value: "secret")] }
        #expect(await bench.transport.taken.wait { $0 == 700_001 })
        if !isRunning { _ = try await bench.manager.pause([id]) }
        let wrong = try SourceURL.parse("http://elsewhere.example/wrong").get().url
        #expect(try await bench.manager.change([id], .url(wrong, nil)).map(\.didChange) == [true])
        if !isRunning { _ = try await bench.manager.resume([id], overrides: RequestOverrides()) }
        #expect(await bench.events.wait { $0.contains { $0.word == "fail" } })
        let failed = try await bench.record(id)
        #expect(failed.failure?.reason == "otherFile", "\(failed.state)")
        #expect(failed.resume.written == ByteRanges([0..<700_001]))
        let asked = try #require(bench.transport.requests.last)
        #expect(asked.options.fields[.ifRange] == nil)
        #expect(asked.options.fields[.authorization] == nil)

        let right = try SourceURL.parse("http://elsewhere.example/right").get().url
        _ = try await bench.manager.change([id], .url(right, nil))
        _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        #expect(await bench.events.wait { $0.contains { $0.word == "complete" } })
        #expect(try bench.holds("file.bin", Self.content))
        #expect(bench.ranges.last == "\(700_001 - 65_536)-")
    }

    @Test("Removing a running download stops it first and leaves nothing behind")
    func removeRunning() async throws {
        let bench = try await Self.stallingOnce()
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 700_001 })
        try await bench.manager.remove([id], deletesFile: false)
        #expect(bench.folder.names() == [])
        await #expect(throws: DownloadError.noSuchDownload(id)) { try await bench.store.records(.ids([id])) }
        #expect(await bench.events.wait { $0.last?.word == "remove" })
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("A call with an unknown id changes no download")
    func unknown() async throws {
        let bench = try await Self.stallingOnce()
        let id = try await bench.add()
        #expect(await bench.transport.taken.wait { $0 == 700_001 })
        for change in [DownloadChange.pause, .cancel, .priority(3), .rateLimit(1)] {
            await #expect(throws: DownloadError.noSuchDownload(99)) {
                try await bench.manager.change([id, 99], change)
            }
        }
        await #expect(throws: DownloadError.noSuchDownload(99)) {
            try await bench.manager.remove([id, 99], deletesFile: false)
        }
        #expect(await bench.manager.progress().map(\.state) == [.running])
        await bench.manager.close()
    }

    @Test("A hundred rounds of pause and resume end with the right file and no lost buffer")
    func rounds() async throws {
        // Each round fetches 10,000 new bytes. Each round after the first also fetches the 1250 bytes before them, for
        // the overlap check.
        let bench = try await SessionBench { _, asked in
            let count: Int64 = asked.number == 1 ? 10_000 : 11_250
            return .reply(asked.number <= 100 ? Self.reply.with { $0.cut = .stall(after: count) } : Self.reply)
        }
        let id = try await bench.add()
        for round in 1...100 {
            #expect(await bench.transport.taken.wait { $0 == Int64(round) * 11_250 - 1250 })
            #expect(try await bench.manager.pause([id]).map(\.didChange) == [true])
            #expect(try await bench.record(id).resume.written == ByteRanges([0..<Int64(round) * 10_000]))
            _ = try await bench.manager.resume([id], overrides: RequestOverrides())
        }
        #expect(await bench.events.wait { $0.contains { $0.word == "complete" } })
        #expect(try bench.holds("file.bin", Self.content))
        #expect(bench.transport.taken.value == Self.content.size + 100 * 1250)
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
        #expect(await bench.manager.progress().isEmpty)
    }

    @Test("Any number of callers may pause and resume the same downloads at once")
    func crowd() async throws {
        let bench = try await SessionBench { _, _ in .reply(Self.reply.with { $0.bytesPerSecond = 4_000_000 }) }
        let ids = try await bench.manager.add((0..<6).map { try bench.request("/\($0)") }).map(\.record.id)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<12 {
                group.addTask {
                    for round in 0..<10 {
                        let some = Array(ids.dropFirst((client + round) % 3).prefix(3))
                        _ = try await bench.manager.pause(some)
                        _ = try await bench.manager.resume(some, overrides: RequestOverrides())
                        _ = try await bench.manager.change(some, .priority(round))
                    }
                }
            }
            try await group.waitForAll()
        }
        _ = try await bench.manager.resume(ids, overrides: RequestOverrides())
        let completed = await bench.events.wait(atMost: .seconds(40)) { $0.count { $0.word == "complete" } == 6 }
        #expect(completed)
        for name in 0..<6 { #expect(try bench.holds("\(name)", Self.content)) }
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("A download is saved as running even if its server has sent no byte of the body yet")
    func silence() async throws {
        let bench = try await SessionBench { _, _ in .scripted(.of(200), body: [], ending: nil) }
        let id = try await bench.add()
        // Loops without a limit of its own; the time limit of the suite ends the test.
        while try await bench.record(id).state.kind != .running { await Task.yield() }
        await bench.manager.close()
    }
}
