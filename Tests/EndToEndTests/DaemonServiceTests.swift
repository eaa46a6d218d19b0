import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("The background session under a service manager", .serialized, .timeLimit(.minutes(1)))
    struct DaemonServiceTests {
        /// Runs the background session with a socket that already listens, as systemd does.
        func activated(
            _ sandbox: DlmSandbox, _ listener: UnixSocket, notifying address: String
        ) throws -> ChildProcess {
            try sandbox.start("daemon", "run") {
                $0.passed = listener.descriptor
                $0.environment["NOTIFY_SOCKET"] = address
                $0.environment["LISTEN_FDS"] = "1"
                $0.environment["LISTEN_FDNAMES"] = "dlm.socket"
                $0.runInShell(after: "export LISTEN_PID=$$")
            }
        }

        func listener(_ sandbox: DlmSandbox) throws -> UnixSocket {
            let sessions = try sandbox.root.makeFolder("state/dlm/sessions")
            let listener = try UnixSocket(.stream, at: sessions + "/background.sock")
            try listener.startListening()
            return listener
        }

        @Test("The session uses the given socket, notifies the service manager, and keeps the socket at its end")
        func activation() async throws {
            try await withDlm { sandbox in
                let listener = try listener(sandbox)
                let notifications = try UnixSocket(.datagram, at: "@" + sandbox.root("notify"))
                let run = try activated(sandbox, listener, notifying: "@" + sandbox.root("notify"))
                let ready = try #require(try await notifications.receive(), "\(run.standardError)")
                #expect(ready.split(separator: "\n").contains("READY=1"), "\(ready)")
                #expect(ready.contains("\nMAINPID=\(run.pid)"))
                #expect(try await sandbox.daemonStatus().pid == run.pid)
                run.send(SIGTERM)
                let last = try await notifications.receive()
                #expect(last?.hasPrefix("STOPPING=1\n") == true)
                let result = try await run.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(sandbox.root.names(in: "state/dlm/sessions") == ["background.sock"])
                // The next session gets the same socket.
                let next = try activated(sandbox, listener, notifying: "@" + sandbox.root("notify"))
                #expect(try await notifications.receive()?.contains("READY=1") == true)
                #expect(try await sandbox.daemonStatus().pid == next.pid)
                next.send(SIGINT)
                #expect(try await next.result().ending == .exited(0))
            }
        }

        @Test("daemon start wakes the service manager instead of starting a second session")
        func woken() async throws {
            try await withDlm { sandbox in
                let listener = try listener(sandbox)
                let start = try sandbox.start("daemon", "start", "--json")
                // The client has connected, so the manager starts the service.
                #expect(await listener.waitForConnection())
                let notifications = try UnixSocket(.datagram, at: sandbox.root("notify"))
                let run = try activated(sandbox, listener, notifying: sandbox.root("notify"))
                let result = try await start.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(try sandbox.status(result).pid == run.pid)
                #expect(try await notifications.receive()?.contains("READY=1") == true)
                run.send(SIGTERM)
                #expect(try await run.result().ending == .exited(0))
            }
        }

        @Test("A socket at another path is refused, because no client would find it")
        func elsewhere() async throws {
            try await withDlm { sandbox in
                let listener = try UnixSocket(.stream, at: sandbox.root("other.sock"))
                try listener.startListening()
                let run = try activated(sandbox, listener, notifying: sandbox.root("notify"))
                let result = try await run.result()
                expectFailure(12, of: result)
                #expect(result.stderr.contains("ListenStream="), "\(result.stderr)")
            }
        }
    }
}
