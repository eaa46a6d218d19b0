import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Links that expire: set-url", .serialized, .timeLimit(.minutes(1)))
    struct SetURLTests {
        let content = Content(seed: 440, size: 6 * mebibyte + 11)
        let cut = 3 * mebibyte

        /// Serves a URL that sends only the first half of the file and refuses requests for other ranges. Other paths
        /// have the same file with another validator or without ranges, another file of the same size, and a file of
        /// another size.
        var handler: FaultServer.Handler {
            { [content, cut] request in
                switch request.target {
                case "/expired?token=1" where request.range(in: content.size) == .part(0..<content.size):
                    FaultReply(content, etag: "\"v1\"").with { $0.cut = .close(after: cut) }
                case "/expired?token=1": FaultReply(status: 403)
                case "/same?token=2": FaultReply(content, etag: "\"other-host\"")
                case "/bare": FaultReply(content).with { $0.ranges = .ignored }
                case "/foreign": FaultReply(Content(seed: 441, size: content.size), etag: "\"v1\"")
                case "/shorter": FaultReply(Content(seed: 440, size: content.size - 1), etag: "\"v1\"")
                default: FaultReply(status: 404)
                }
            }
        }

        /// Starts a download whose link expires.
        func expire(_ arguments: String..., in sandbox: DlmSandbox, _ server: FaultServer) async throws {
            let words = ["get", "-x", "1", "-o", "file.bin"] + arguments + [server.url("/expired?token=1")]
            let result = try await sandbox.run(words)
            expectFailure(8, of: result)
            #expect(result.stderr.contains("403"), "\(result.stderr)")
            let failed = try await sandbox.show(1)
            #expect(failed.state == "failed")
            #expect(failed.received == cut)
            #expect(failed.error?.httpStatus == 403)
        }

        @Test(
            "After set-url to another URL of the same file, the download continues; at most 256 KiB are fetched twice")
        func same() async throws {
            try await withDlm(handler) { sandbox, server in
                try await expire(in: sandbox, server)
                try await sandbox.done("set-url", "1", server.url("/same?token=2"))
                #expect(try await sandbox.show(1).url == server.url("/same?token=2"))
                try await sandbox.expectDownloaded(content, byProcess: "resume", "1")
                // The end of the partial file is fetched again and compared.
                #expect(server.log.bytesSentTwice() <= 256 << 10)
                #expect(try await sandbox.list().count == 1)
            }
        }

        @Test(
            "After set-url to another file, or to a server that cannot prove the same, the bytes are kept: status 9",
            arguments: ["/foreign", "/shorter", "/bare"])
        func other(path: String) async throws {
            try await withDlm(handler) { sandbox, server in
                try await expire(in: sandbox, server)
                try await sandbox.done("set-url", "1", server.url(path))
                expectFailure(9, of: try await sandbox.run("resume", "1"))
                #expect(sandbox.names == ["file.bin.part"])
                let kept = try await sandbox.show(1)
                #expect(kept.received == cut)
                #expect(kept.error?.exitStatus == 9)
                try sandbox.expectPartial(content, "file.bin", has: kept.received)
                // The right file still completes the download.
                try await sandbox.done("set-url", "1", server.url("/same?token=2"))
                try await sandbox.expectDownloaded(content, byProcess: "resume", "1")
            }
        }

        @Test(
            "A running download, in the foreground or the background, continues from the new URL at once",
            arguments: [false, true])
        func running(inBackground: Bool) async throws {
            let stalled = FaultReply(content, etag: "\"v1\"").with { $0.cut = .stall(after: cut) }
            try await withDlm({ [handler] in $0.target == "/stalled" ? stalled : handler($0) }) { sandbox, server in
                let words = ["get", "-o", "file.bin", "-x", "1"] + (inBackground ? ["-b"] : [])
                let get = try sandbox.start(words + [server.url("/stalled")])
                let isThere = await server.waitUntil { $0.bytesSent >= 3 * mebibyte }
                #expect(isThere)
                try await sandbox.waitToShow(1) { $0.received == cut }
                try await sandbox.done("set-url", "1", server.url("/same?token=2"))
                let got = try await get.result()
                let end = inBackground ? try await sandbox.perform("wait", "1") : got
                try expectDownloaded(content, as: "file.bin", by: end, in: sandbox)
                #expect(server.log.bytesSentTwice() <= 256 << 10)
            }
        }
    }
}
