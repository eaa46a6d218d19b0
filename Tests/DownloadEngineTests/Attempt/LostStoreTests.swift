import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// The store of a paused download is lost, and a new store begins.
@Suite("Partial files without their store", .inTurn, .timeLimit(.minutes(1)))
struct LostStoreTests {
    private static let content = Content(seed: 1, size: 2_000_000)
    private static let reply = FaultReply(content, etag: "\"a\"")

    /// A store with another path.
    private struct OtherStore: ForwardingStore {
        let inner: any DownloadStore = InMemoryDownloadStore(isAlive: { _ in false })
        let path = "/other/downloads.sqlite"
    }

    /// Pauses a download after 700,001 bytes, and adds `path` to a session with the store.
    private func end(
        _ path: String = "/file.bin", in store: any DownloadStore
    ) async throws -> (DownloadRecord, SessionBench, SessionBench) {
        let first = try await SessionBench(serving: Self.reply.with { $0.cut = .stall(after: 700_001) })
        try await first.add()
        #expect(await first.transport.taken.wait { $0 == 700_001 })
        await first.manager.pauseAll(.user)
        await first.manager.close()
        let second = try await SessionBench(after: first, store: store, session: "second", serving: Self.reply)
        return (try await second.ending(of: try await second.add(path)), first, second)
    }

    @Test("A new store with the same path continues the file")
    func continued() async throws {
        let (record, first, bench) = try await end(in: InMemoryDownloadStore(isAlive: { _ in false }))
        defer { withExtendedLifetime(first) {} }
        #expect(record.state == .completed)
        #expect(bench.ranges.last == rest(from: 700_001), "\(bench.ranges)")
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test("Another store does not take the file")
    func otherStore() async throws {
        let (record, first, bench) = try await end(in: OtherStore())
        defer { withExtendedLifetime(first) {} }
        #expect(record.failure == .fileFailed(.partialExists, path: bench.folder("file.bin.part")))
        #expect(bench.folder.names() == ["file.bin.part"])
    }

    @Test("A download of another URL does not take the file")
    func otherURL() async throws {
        let (record, first, bench) = try await end(
            "/file.bin?other", in: InMemoryDownloadStore(isAlive: { _ in false }))
        defer { withExtendedLifetime(first) {} }
        #expect(record.failure == .fileFailed(.partialExists, path: bench.folder("file.bin.part")))
        #expect(bench.folder.names() == ["file.bin.part"])
    }
}
