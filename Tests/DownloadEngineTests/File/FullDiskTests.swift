import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// A file system of two megabytes, mounted for the test. Only root can mount.
@Suite(
    "A full disk", .inTurn, .timeLimit(.minutes(1)), .serialized,
    .enabled(if: geteuid() == 0, "mounting takes root"))
struct FullDiskTests {
    /// Runs the body with a folder on a tmpfs of 2 MiB. Prints a message and does nothing if mounts are forbidden.
    private func onSmallDisk(_ body: (TemporaryFolder) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=2m") == 0 else {
            print("skipped: cannot mount a tmpfs here: \(String(cString: strerror(errno)))")
            return
        }
        defer { #expect(umount2(folder.path, 2) == 0) }
        try await body(folder)
    }

    @Test("A file that cannot fit is refused before any byte is fetched")
    func tooLarge() async throws {
        try await onSmallDisk { folder in
            let bench = try await SessionBench(serving: FaultReply(Content(seed: 1, size: 3 << 20)))
            let id = try await bench.add { $0.destination.folder = folder.path }
            let record = try await bench.ending(of: id)
            guard case .failed(.fileFailed(.noSpace(let needed?), _)) = record.state else {
                Issue.record("ended as \(record.state)")
                return
            }
            #expect((1 << 20...2 << 20).contains(needed))
            #expect(folder.names().isEmpty)
            #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
        }
    }

    @Test("If the disk fills up, the download fails; with more room it continues with the written bytes")
    func fillsUp() async throws {
        try await onSmallDisk { folder in
            let content = Content(seed: 2, size: 3 << 20)
            // No size is announced, so the size cannot be checked beforehand.
            let reply = FaultReply(content, etag: "\"a\"").with {
                $0.framing = .chunked; $0.ranges = .ignored
            }
            let first = try await SessionBench(serving: reply)
            let id = try await first.add { $0.destination.folder = folder.path }
            let record = try await first.ending(of: id)
            #expect(record.failure?.reason == "noSpace", "\(record.state)")
            #expect(record.received > 1 << 20)
            #expect(folder.names() == ["file.bin.part"])
            #expect(await first.freeBuffers() == BufferPool.standardCapacity)
            await first.manager.close()
            #expect(mount("tmpfs", folder.path, "tmpfs", 32, "size=8m") == 0)
            let second = try await SessionBench(
                after: first, session: "second", serving: FaultReply(content, etag: "\"a\""))
            _ = try await second.manager.resume([id], overrides: RequestOverrides())
            #expect(try await second.ending(of: id).state == .completed)
            // Without a size, the last bytes are compared.
            #expect(second.ranges == ["\(record.received - 65536)-"])
            #expect(try sha256(of: folder("file.bin")) == content.sha256)
        }
    }
}
