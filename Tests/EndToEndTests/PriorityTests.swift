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

        /// Returns the paths in the order of their first requests.
        func order(_ server: FaultServer) -> [String] {
            var seen: [String] = []
            for entry in server.log.entries where !seen.contains(entry.request.target) {
                seen.append(entry.request.target)
            }
            return seen
        }

        @Test(
            "With one slot, downloads run in the order of the list; higher priorities go first, those below 0 go last")
        func order() async throws {
            try await withDlm(Self.handler(stalling: ["/0"])) { sandbox, server in
                _ = try await sandbox.startDaemon("-j", "1")
                try await sandbox.hand((0..<8).map { server.url("/\($0)") })
                try await sandbox.hand(["--priority", "5", server.url("/high")])
                try await sandbox.hand(["--priority", "-1", server.url("/low")])
                try await sandbox.hand([server.url("/last")])
                #expect(await server.waitUntil { $0.bytesSent >= 512 << 10 })
                // IDs count from 1, so these are /6, /3 and /2.
                try await sandbox.done("priority", "7", "7")
                try await sandbox.done("priority", "-3", "4")
                try await sandbox.done("priority", "1", "3")
                try await sandbox.done("cancel", "6")
                #expect(try await sandbox.show(7).priority == 7)
                #expect(server.log.entries.count == 1)
                server.handle(Self.files.handler())
                // A paused download gives its slot to the next one. After the resume it has the place of its ID again.
                try await sandbox.done("pause", "1")
                try await sandbox.done("wait", "2-5", "7-11")
                try await sandbox.done("resume", "1")
                try await sandbox.done("wait", "1")
                #expect(
                    order(server) == ["/0", "/6", "/high", "/2", "/1", "/4", "/7", "/last", "/low", "/3"])
                #expect(server.log.peakConnections <= 2)
                try Self.files.expect(sandbox.names, in: sandbox)
                #expect(sandbox.names.count == 10)
            }
        }

        @Test("A host has its own limit, and its queued downloads do not keep other hosts from free slots")
        func hosts() async throws {
            let others = try FaultServer(Self.files.handler())
            defer { others.stop() }
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
