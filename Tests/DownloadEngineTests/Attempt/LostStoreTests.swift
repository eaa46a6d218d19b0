import CSystem
import DownloadStorage
import DownloadTestSupport
import Foundation
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
        let inner: any DownloadStore = SQLiteDownloadStore.inMemory(isAlive: { _ in false })
        let path = "/other/downloads.sqlite"
    }

    /// Pauses a download after 700,001 bytes, and adds `path` to a session with the store.
    /// - Parameter isDurable: Whether the disk has the bytes before the store is lost.
    private func end(
        _ path: String = "/file.bin", in store: any DownloadStore = SQLiteDownloadStore.inMemory { _ in false },
        isDurable: Bool = true
    ) async throws -> (DownloadRecord, SessionBench) {
        let first = try await SessionBench(serving: Self.reply.with { $0.cut = .stall(after: 700_001) })
        try await first.add()
        #expect(await first.transport.taken.wait { $0 == 700_001 })
        await first.manager.pauseAll(.user)
        await first.manager.close()
        if !isDurable {
            var description = try #require(PartialDescription.read(in: first.folder.path, name: "file.bin"))
            description.resume.durable = ByteRanges()
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: first.folder("file.bin.part")))
            description.write(to: file.fileDescriptor)
        }
        let second = try await SessionBench(after: first, store: store, session: "second", serving: Self.reply)
        return (try await second.ending(of: try await second.add(path)), second)
    }

    @Test("A new store with the same path continues the file")
    func continued() async throws {
        let (record, bench) = try await end()
        #expect(record.state == .completed)
        #expect(bench.ranges.last == rest(from: 700_001), "\(bench.ranges)")
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test("A file without durable bytes begins again")
    func nothingDurable() async throws {
        let (record, bench) = try await end(isDurable: false)
        #expect(record.state == .completed)
        #expect(bench.ranges.allSatisfy { $0 == "0-" }, "\(bench.ranges)")
        #expect(try bench.holds("file.bin", Self.content))
        #expect(bench.folder.names() == ["file.bin"])
    }

    @Test("A partial file describes itself from its beginning")
    func describedFromTheBeginning() async throws {
        let bench = try await SessionBench(serving: Self.reply.with { $0.cut = .stall(after: 1) })
        let id = try await bench.add()
        #expect(await bench.events.wait { $0.contains { $0.word == "start 0" } }, "\(bench.words(id))")
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: bench.folder("file.bin.part")))
        #expect(dlm_get_attribute(file.fileDescriptor, PartialDescription.attribute, nil, 0) > 0)
        await bench.manager.close()
    }

    @Test("Another download does not take the file of one that was killed before the store knew the file")
    func killedEarly() async throws {
        let bench = try await SessionBench(serving: Self.reply)
        var killed = try #require(
            try await bench.store.add([try bench.request()], session: "foreground-dead").first
        ).record
        killed.fileName = "file.bin"
        #expect(try await bench.store.save([killed], session: "foreground-dead").isEmpty)
        let file = try PartialFile.open(
            folder: bench.folder.path, name: "file.bin", mode: .create, followsLinks: true)
        file.describe(PartialDescription(killed, in: bench.store.path), version: file.version)
        file.unlock()
        let record = try await bench.ending(of: try await bench.add { $0.destination.fileName = "file.bin" })
        #expect(record.id != killed.id)
        #expect(record.failure == .fileFailed(.partialExists, path: file.path))
    }

    @Test("Another store does not take the file")
    func otherStore() async throws {
        let (record, bench) = try await end(in: OtherStore())
        #expect(record.failure == .fileFailed(.partialExists, path: bench.folder("file.bin.part")))
        #expect(bench.folder.names() == ["file.bin.part"])
    }

    @Test("A download of another URL does not take the file")
    func otherURL() async throws {
        let (record, bench) = try await end("/file.bin?other")
        #expect(record.failure == .fileFailed(.partialExists, path: bench.folder("file.bin.part")))
        #expect(bench.folder.names() == ["file.bin.part"])
    }
}
