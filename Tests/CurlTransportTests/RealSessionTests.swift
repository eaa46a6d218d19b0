import CurlTransport
import DownloadStorage
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// A whole session on the real transport, libcurl.
@Suite("A session on libcurl", .inTurn, .timeLimit(.minutes(1)), .serialized)
struct RealSessionTests {
    private static let content = Content(seed: 1, size: 8_000_000)

    private struct Session: Sendable {
        let manager: SessionManager
        let ends = Observed<[DownloadID: DownloadState]>([:])

        init(_ store: any DownloadStore, _ name: String) async {
            var parts = SessionParts(
                store: store, identifier: "foreground-\(name)", version: "test",
                resources: SessionResources(start: { try CurlTransport(engines: 2, environment: [:]) }, end: {}))
            parts.watchesWriters = false
            manager = SessionManager(parts: parts, maxConcurrent: 40, maxPerHost: 40)
            let stream = await manager.events()
            Task { [ends] in
                for await event in stream {
                    switch event {
                    case .didComplete, .didFail, .didPause:
                        ends.update { $0[event.snapshot.id] = event.snapshot.record.state }
                    default: continue
                    }
                }
            }
        }

        func ending(of id: DownloadID) async -> DownloadState? {
            _ = await ends.wait { $0[id] != nil }
            return ends.value[id]
        }
    }

    private func request(
        _ url: String, _ folder: TemporaryFolder, connections: DownloadRequest.Connections = 1
    ) throws -> DownloadRequest {
        var request = DownloadRequest(
            url: try SourceURL.parse(url).get().url, destination: Destination(folder: folder.path))
        request.connections = connections
        request.retry = RetryPolicy(limit: 3, delay: .seconds(0.01), maximumDelay: .seconds(0.02))
        return request
    }

    @Test("With an automatic number of connections, a download adds connections while they make it faster")
    func findsConnections() async throws {
        let content = Content(seed: 2, size: 48_000_000)
        let server = try FaultServer { _ in
            FaultReply(content, etag: "\"a\"").with { $0.bytesPerSecond = 3_000_000 }
        }
        let folder = try TemporaryFolder()
        let store = SQLiteDownloadStore.inMemory()
        let session = await Session(store, "own")
        let id = try await session.manager.add([try request(server.url(), folder, connections: .automatic)])[0].record
            .id
        #expect(await session.ending(of: id) == .completed)
        #expect(try sha256(of: folder("file.bin")) == content.sha256)
        let record = try #require(try await store.records(.ids([id])).first)
        #expect(record.attempts.last?.connections == SegmentPlanner.automaticLimit)
        #expect(record.completed?.bytes == content.size)
        // The first request asked for the whole file; its transfer was cut where other connections fetched the rest.
        let range = server.log.entries.first?.range
        #expect(range == "bytes=0-")
        await session.manager.close()
    }

    @Test("Five downloads from one host share its connections, and give them back")
    func shareConnections() async throws {
        let content = Content(seed: 3, size: 6_000_000)
        let server = try FaultServer { _ in
            FaultReply(content, etag: "\"a\"").with { $0.bytesPerSecond = 500_000 }
        }
        let folder = try TemporaryFolder()
        let store = SQLiteDownloadStore.inMemory()
        let session = await Session(store, "own")
        let requests = try (1...5).map {
            try request(server.url("/\($0)"), folder, connections: .upTo(16))
        }
        let ids = try await session.manager.add(requests).map(\.record.id)
        for id in ids { #expect(await session.ending(of: id) == .completed) }
        for name in 1...5 { #expect(try sha256(of: folder("\(name)")) == content.sha256) }
        let most = try await store.records(.ids(ids)).compactMap { $0.attempts.last?.connections }
        #expect(most.contains { $0 > 1 })
        // The server may see the next connection before the end of a cut connection, so five more are permitted.
        #expect((6...16 + 5).contains(server.log.peakConnections))
        #expect(await session.manager.context?.hosts.isIdle == true)
        await session.manager.close()
    }

    @Test("A stop is prompt whatever the servers do, and the next session fetches only the missing bytes")
    func stops() async throws {
        let server = try FaultServer { request in
            let number = Int(request.target.dropFirst()) ?? 0
            return FaultReply(Self.content, etag: "\"a\"").with {
                $0.cut = .stall(after: number.isMultiple(of: 2) ? 3_000_000 : 0)
            }
        }
        let folder = try TemporaryFolder()
        // A session closes its store, so the next one opens the file anew.
        let stores = try (0..<2).map { _ in try SQLiteDownloadStore(folder: folder("state"), isAlive: { _ in true }) }
        let first = await Session(stores[0], "first")
        let requests =
            try (0..<20).map { try request(server.url("/\($0)"), folder) }
            + [try request("http://no-such-host.invalid/x", folder)]
        let ids = try await first.manager.add(requests).map(\.record.id)
        #expect(await server.waitUntil { $0.bytesSent == 10 * 3_000_000 })
        let begun = ContinuousClock.now
        await first.manager.pauseAll(.terminate)
        #expect(ContinuousClock.now - begun < promised(within: .seconds(10)))
        await first.manager.close()
        let paused = try await stores[1].records(.ids(ids))
        #expect(paused.allSatisfy { $0.state.kind == .paused || $0.state.kind == .failed })

        let sent = server.log.bytesSent
        server.change(to: Self.content, etag: "\"a\"")
        let second = await Session(stores[1], "second")
        let resumed = Array(ids.prefix(20))
        _ = try await second.manager.resume(resumed, overrides: RequestOverrides())
        for (number, id) in resumed.enumerated() {
            #expect(await second.ending(of: id) == .completed)
            #expect(try sha256(of: folder("\(number)")) == Self.content.sha256)
        }
        let missing = paused.prefix(20).reduce(0) { $0 + Self.content.size - $1.received }
        // The last bytes of each of the ten partial files are fetched again, for the overlap check.
        let again = server.log.bytesSent - sent - missing
        #expect((0...10 * (Overlap.resumed + 4096)).contains(again), "\(again)")
        await second.manager.close()
    }
}
