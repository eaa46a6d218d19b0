import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite(
        "A full disk", .serialized, .timeLimit(.minutes(1)),
        .enabled(if: SmallDisk.canMount, "needs root to mount a small tmpfs"))
    struct FullDiskTests {
        static func withSmallDisk(_ body: (DlmSandbox) async throws -> Void) async throws {
            try await withDlm { sandbox in
                try #require(SmallDisk.mount(4, at: sandbox.files) == 0)
                defer { umount2(sandbox.files, Int32(MNT_DETACH)) }
                try await body(sandbox)
            }
        }

        @Test("A file of known size that does not fit is refused with status 3, and no file is left")
        func knownSize() async throws {
            let server = try FaultServer.serving(Content(seed: 95, size: 16 * mebibyte), etag: "\"v1\"")
            defer { server.stop() }
            try await Self.withSmallDisk { sandbox in
                let result = try await sandbox.perform("get", server.url())
                expectFailure(3, of: result)
                #expect(result.stderr.contains("space"))
                #expect(!sandbox.exists("file.bin"))
            }
        }

        @Test("If the disk fills up during a download, the status is 3; with more space, resume completes the file")
        func unknownSize() async throws {
            let content = Content(seed: 96, size: 6 * mebibyte)
            let server = try FaultServer { _ in
                FaultReply(content, etag: "\"v1\"").with { $0.framing = .chunked }
            }
            defer { server.stop() }
            try await Self.withSmallDisk { sandbox in
                expectFailure(3, of: try await sandbox.perform("get", server.url()))
                #expect(!sandbox.exists("file.bin"))
                try #require(SmallDisk.mount(32, at: sandbox.files, flags: MS_REMOUNT) == 0)
                let result = try await sandbox.perform("resume", try await sandbox.onlyID())
                try expectDownloaded(content, as: "file.bin", by: result, in: sandbox)
            }
        }

        @Test("If the disk fills up during a list of ten files, the status is 3, and every printed file is complete")
        func list() async throws {
            let server = try FaultServer.serving(Content(seed: 97, size: mebibyte))
            defer { server.stop() }
            try await Self.withSmallDisk { sandbox in
                let list = (0..<10).map { server.url("/f\($0)") }.joined(separator: "\n")
                let result = try await sandbox.perform("get", "-i", "-") { $0.input = list }
                #expect(result.ending == .exited(3), "\(result.stderr)")
                for path in result.outputLines {
                    #expect(try sha256(of: String(path)) == Content(seed: 97, size: mebibyte).sha256)
                }
                #expect(result.outputLines.count == sandbox.names.filter { !$0.hasSuffix(".part") }.count)
            }
        }
    }
}

/// A small file system in memory. Mounting it needs root.
enum SmallDisk {
    /// Whether a tmpfs can be mounted and unmounted.
    static let canMount: Bool = {
        guard geteuid() == 0, let folder = try? TemporaryFolder() else { return false }
        defer { folder.remove() }
        guard mount(1, at: folder.path) == 0 else { return false }
        return umount2(folder.path, 0) == 0
    }()

    /// Mounts a tmpfs of this many MiB. Returns 0 on success.
    static func mount(_ size: Int, at path: String, flags: Int = 0) -> Int32 {
        Glibc.mount("tmpfs", path, "tmpfs", UInt(flags), "size=\(size)m")
    }
}
