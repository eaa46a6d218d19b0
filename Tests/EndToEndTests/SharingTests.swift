import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Many processes, one store", .serialized, .timeLimit(.minutes(1)))
    struct SharingTests {
        @Test(
            "Two get commands for the same URL and destination make one download, and both succeed",
            arguments: [true, false])
        func joined(together: Bool) async throws {
            let content = Content(seed: 100, size: 8 * mebibyte)
            let reply = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(6 * mebibyte) }
            try await withDlm(serving: reply) { sandbox, server in
                let first = try sandbox.start("get", server.url())
                if !together { #expect(await server.waitUntil { $0.bytesSent > 2 * mebibyte }) }
                let second = try sandbox.start("get", server.url())
                try expectDownloaded(content, as: "file.bin", by: try await first.result(), in: sandbox)
                try expectDownloaded(content, as: "file.bin", by: try await second.result(), in: sandbox)
                #expect(try await sandbox.list().count == 1)
                #expect(server.log.bytesSentTwice() <= promised(atMost: mebibyte, connections: 4))
            }
        }

        @Test("If the process that runs a joined download is killed, the other process completes the download")
        func takenOver() async throws {
            let content = Content(seed: 101, size: 8 * mebibyte)
            let reply = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(4 * mebibyte) }
            try await withDlm(holding: reply) { sandbox, server in
                let first = try sandbox.start("get", server.url())
                #expect(await server.waitUntil { $0.bytesSent > 2 * mebibyte })
                let second = try sandbox.start("get", server.url())
                #expect(await server.waitUntil { $0.bytesSent > 4 * mebibyte })
                try await first.expectEnd(by: SIGKILL)
                server.releaseEnds()
                let result = try await second.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                try expectFile(content, "file.bin", in: sandbox)
            }
        }
    }
}
