import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Order and limits in the background session", .serialized, .timeLimit(.minutes(2)))
    struct PriorityTests {
        static let files = AnyFiles(size: mebibyte + 1)

        /// Serves files under every path. The answers for the paths in `stalled` stall, so their downloads keep their
        /// slots.
        static func handler(stalling stalled: Set<String>) -> FaultServer.Handler {
            { request in
                files.reply(request).with {
                    if stalled.contains(request.target) { $0.cut = .stall(after: 512 << 10) }
                }
            }
        }

        @Test("A host has its own limit, and its queued downloads do not keep other hosts from free slots")
        func hosts() async throws {
            let others = try FaultServer(Self.files.handler())
            try await withDlm(Self.handler(stalling: ["/0", "/1"])) { sandbox, server in
                _ = try await sandbox.startDaemon("-j", "4", "--max-per-host", "2")
                try await sandbox.hand((0..<40).map { server.url("/\($0)") })
                #expect(await server.waitUntil { $0.bytesSent >= mebibyte })
                // The same machine under another name and another port counts as another host.
                let free = (0..<4).map { others.url("/f\($0)").replacing("127.0.0.1", with: "localhost") }
                let ids = try await sandbox.hand(free)
                try await sandbox.done("wait", "\(ids[0])-\(ids[3])")
                #expect(server.log.entries.count == 2)
                #expect(others.log.peakConnections <= 2)
                let status = try await sandbox.daemonStatus()
                #expect(status.running == 2)
                #expect(status.queued == 38)

                // Both limits can be changed while the session runs.
                server.handle(Self.handler(stalling: ["/2", "/3", "/4"]))
                try await sandbox.done("daemon", "start", "--max-per-host", "3")
                #expect(await server.waitUntil { $0.entries.count == 3 })
                #expect(try await sandbox.daemonStatus().running == 3)
                try await sandbox.done("daemon", "start", "-j", "5", "--max-per-host", "5")
                #expect(await server.waitUntil { $0.entries.count == 5 })
                #expect(server.log.peakConnections == 5)
                server.handle(Self.files.handler())
                try await sandbox.done("pause", "1-5")
                try await sandbox.done("resume", "1-5")
                try await sandbox.done("wait", "1-40")
                try Self.files.expect(sandbox.names, in: sandbox)
                #expect(sandbox.names.count == 44)
            }
        }
    }
}
