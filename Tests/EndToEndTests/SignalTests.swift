import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Signals", .serialized, .timeLimit(.minutes(2)))
    struct SignalTests {
        let content = Content(seed: 50, size: 10 * mebibyte)

        func reply(connections: Int = 1) -> FaultReply {
            FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(8 * mebibyte) / connections }
        }

        @Test(
            "After a signal, dlm ends by that signal within a second and says how to resume; at most 1 MiB comes twice",
            arguments: [SIGTERM, SIGINT, SIGHUP], [1, 4])
        func ended(signal: Int32, connections: Int) async throws {
            try await withDlm(serving: reply(connections: connections)) { sandbox, server in
                let result = try await sandbox.interrupt(
                    "get", "-x", "\(connections)", server.url(), with: signal, after: 5 * mebibyte, from: server)
                let id = try await sandbox.onlyID()
                #expect(result.stdout == "")
                #expect(result.errorLines.count == 1, "\(result.stderr)")
                #expect(result.stderr.contains("dlm resume \(id)"))
                #expect(sandbox.names == ["file.bin.part"])
                #expect(try await sandbox.list().map(\.state) == ["paused"])
                try await sandbox.expectDownloaded(content, byProcess: "resume", id)
                #expect(server.log.bytesSentTwice() <= promised(atMost: mebibyte, connections: connections))
            }
        }

        @Test("A crash starts no program of the working folder, and loses nothing that was recorded")
        func crash() async throws {
            try await withDlm(serving: reply()) { sandbox, server in
                let helper = sandbox.file("swift-backtrace")
                try Data("#!/bin/sh\necho started >&2\n".utf8).write(to: URL(filePath: helper))
                chmod(helper, 0o755)
                // If the program is found through PATH, its path as Swift's runtime knows it is only its name.
                let program = URL(filePath: try DlmSandbox.binary)
                server.holdEnds()
                let process = try sandbox.start("dlm", "get", server.url()) { launch in
                    launch.executable = "/usr/bin/env"
                    launch.environment["PATH"] = program.deletingLastPathComponent().path
                    launch.environment["SWIFT_BACKTRACE"] = nil
                }
                #expect(await server.waitUntil { $0.bytesSent >= 5 * mebibyte })
                try await sandbox.waitToRecord()
                let result = try await process.expectEnd(by: SIGSEGV)
                #expect(result.stderr == "")
                server.releaseEnds()
                try await sandbox.expectDownloaded(content, byProcess: "resume", try await sandbox.onlyID())
                #expect(server.log.requests(to: "/file.bin").last?.start ?? 0 > 0)
            }
        }
    }
}
