import CSystem
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Another program changes the partial file.
@Suite("Partial files that other programs change", .inTurn, .timeLimit(.minutes(1)))
struct AlteredFileTests {
    private static let content = Content(seed: 1, size: 2_000_000)
    private static let reply = FaultReply(content, etag: "\"a\"")

    /// Pauses a download after 700,001 bytes, lets `meddle` change its partial file, and resumes it in a second
    /// session.
    private func paused(
        _ change: (inout DownloadRequest) -> Void = { _ in }, meddle: (String) throws -> Void
    ) async throws -> (SessionBench, DownloadID) {
        let first = try await SessionBench(serving: Self.reply.with { $0.cut = .stall(after: 700_001) })
        let id = try await first.add("/file.bin", change)
        #expect(await first.transport.taken.wait { $0 == 700_001 })
        await first.manager.pauseAll(.user)
        await first.manager.close()
        try meddle(first.folder("file.bin.part"))
        let second = try await SessionBench(after: first, session: "second", serving: Self.reply)
        _ = try await second.manager.resume([id], overrides: RequestOverrides())
        return (second, id)
    }

    /// Overwrites bytes in place. The file keeps its size and its identity.
    private static func overwrite(_ path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data(repeating: 0x55, count: 1000))
        try file.close()
        // The new modification time differs, even if the file system's clock is coarse.
        let later = [timespec(tv_sec: 0, tv_nsec: 1 << 30 - 2), timespec(tv_sec: 2_000_000_000, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, later, 0) == 0)
    }

    @Test("If another program wrote to a partial file during a pause, the file is refused and left alone")
    func altered() async throws {
        let (bench, id) = try await paused(meddle: Self.overwrite)
        let path = bench.folder("file.bin.part")
        #expect(try await bench.ending(of: id).state == .failed(.fileFailed(.altered, path: path)))
        #expect(bench.ranges == [])
        #expect(bench.folder.names() == ["file.bin.part"])
    }

    @Test("With a checksum a changed partial file is accepted, and the checksum finds the change")
    func alteredWithChecksum() async throws {
        let (bench, id) = try await paused(
            { $0.checksum = Checksum(algorithm: .sha256, digest: Self.content.sha256) }, meddle: Self.overwrite)
        #expect(try await bench.ending(of: id).failure?.reason == "checksum")
        #expect(bench.folder.names() == ["file.bin.part"])
    }

    @Test("The store forgets the modification time before the next attempt writes to the file")
    func forgotten() async throws {
        let log = GatedStore()
        let first = try await SessionBench(store: log, serving: Self.reply.with { $0.cut = .stall(after: 700_001) })
        let id = try await first.add()
        #expect(await first.transport.taken.wait { $0 == 700_001 })
        await first.manager.pauseAll(.user)
        await first.manager.close()
        #expect(try await log.records(.ids([id])).first?.resume.modified != nil)
        let second = try await SessionBench(
            after: first, store: log, session: "second", serving: Self.reply.with { $0.cut = .stall(after: 0) })
        _ = try await second.manager.resume([id], overrides: RequestOverrides())
        #expect(await second.transport.waitForRequests(1))
        #expect(try await log.records(.ids([id])).first?.resume.modified == nil)
        await second.manager.pauseAll(.user)
    }

    @Test(
        "If another program truncates the file during a download, the lost bytes are noticed and fetched again",
        arguments: [0, 5000, 1_000_000])
    func truncatedUnderway(length: Int) async throws {
        let bench = try await SessionBench(serving: Self.reply)
        let path = bench.folder("file.bin.part")
        bench.transport.onTaken.withLock {
            $0 = { pieces in
                guard pieces == 100 else { return }
                let deadline = ContinuousClock.now + .seconds(20)
                let descriptor = open(path, O_RDONLY)
                defer { close(descriptor) }
                // Reserved space without written bytes counts as a hole.
                while dlm_next_hole(descriptor, 0) < 1_200_000, .now < deadline { sched_yield() }
                #expect(truncate(path, length) == 0)
            }
        }
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.words(id).contains("retry"))
        #expect(try bench.holds("file.bin", Self.content))
    }

    @Test("A hole in place of written bytes is found and fetched again")
    func hole() async throws {
        let bench = try await SessionBench(serving: FaultReply(CrashTests.content, etag: "\"a\""))
        let id = try await bench.takeOver(try bench.request()) { record in
            try CrashTests.leave(.half, &record, in: bench.folder)
            #expect(truncate(bench.folder("file.bin.part"), 200_000) == 0)
            #expect(truncate(bench.folder("file.bin.part"), 600_000) == 0)
        }
        #expect(try await bench.ending(of: id).state == .completed)
        // The overlap check finds the hole. The bytes before the hole stay.
        let words = bench.words(id)
        #expect(words.count { $0 == "restart" } == 1 && !words.contains("start 0"), "\(words)")
        #expect(try bench.holds("file.bin", CrashTests.content))
    }
}
