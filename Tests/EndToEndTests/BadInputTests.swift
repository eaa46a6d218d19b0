import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Bad input", .serialized, .timeLimit(.minutes(1)))
    struct BadInputTests {
        static let content = Content(seed: 90, size: 200_000)

        @Test(
            "Bad input gives one clear line and the right exit status, and leaves nothing behind",
            arguments: [
                ("a malformed URL", ["get", "http://"], 2),
                ("a URL with a space", ["get", "http://exa mple.org/x"], 2),
                ("no scheme", ["get", "me@example.org/x"], 2),
                ("an unknown scheme", ["get", "gopher://127.0.0.1/x"], 2),
                ("a malformed checksum", ["get", "--checksum", "sha256:xyz", "SERVER/x"], 2),
                ("a missing list file", ["get", "-i", "/nonexistent/list"], 3),
                ("a malformed header field", ["get", "-H", "no colon", "SERVER/x"], 2),
                ("one name for two files", ["get", "-o", "x", "SERVER/a", "SERVER/b"], 2),
                ("a folder below a file", ["get", "-d", "/etc/passwd/below", "SERVER/x"], 3),
                ("a folder in /proc", ["get", "-d", "/proc/dlm", "SERVER/x"], 3),
                ("a name that is a folder", ["get", "-o", "/usr", "SERVER/x"], 3),
                ("a closed port", ["get", "--retries", "0", "http://127.0.0.1:CLOSED/x"], 4),
                ("an unknown host", ["get", "--retries", "0", "http://nowhere.invalid/x"], 4),
                ("a server without TLS", ["get", "--retries", "0", "https://127.0.0.1:PORT/x"], 5),
                ("an unknown id", ["resume", "99"], 10),
                ("an unknown id to show", ["show", "99"], 10),
                ("an unknown id to remove", ["remove", "99"], 10),
            ] as [(String, [String], Int32)])
        func refused(what: String, arguments: [String], status: Int32) async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                let closed = try LoopbackSocket.unusedPort()
                let words = arguments.map {
                    $0.replacing("SERVER", with: "http://127.0.0.1:\(server.port)")
                        .replacing("PORT", with: "\(server.port)").replacing("CLOSED", with: "\(closed)")
                }
                let result = try await ChildProcess(try sandbox.launch(words)).result()
                expectFailure(status, of: result)
                #expect(sandbox.names == [], "\(what)")
            }
        }

        @Test(
            "Unknown options and commands are usage errors",
            arguments: [["get"], ["get", "--no-such-option"], ["nonsense"]])
        func usage(arguments: [String]) async throws {
            try await withDlm { sandbox in
                let result = try await ChildProcess(try sandbox.launch(arguments)).result()
                #expect(result.ending == .exited(2))
                #expect(result.stdout == "")
                #expect(result.stderr != "")
            }
        }

        @Test("--help and --version succeed and print to standard output")
        func help() async throws {
            try await withDlm { sandbox in
                for option in ["--help", "--version"] {
                    let result = try await sandbox.run(option)
                    #expect(result.ending == .exited(0))
                    #expect(result.stdout != "" && result.stderr == "")
                }
            }
        }

        @Test(
            "A folder that cannot be written gives exit status 3",
            .enabled(if: geteuid() != 0, "root may write everywhere"))
        func unwritable() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                #expect(chmod(sandbox.files, 0o555) == 0)
                expectFailure(3, of: try await sandbox.run("get", server.url()))
                #expect(sandbox.names == [])
            }
        }

        @Test("A bad URL among good URLs stops the command before anything is fetched")
        func oneBadURL() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                expectFailure(2, of: try await sandbox.run("get", server.url("/a"), "gopher://x/y"))
                #expect(sandbox.names == [])
                #expect(server.log.entries.isEmpty)
            }
        }

        @Test("With an unknown ID, a command changes none of the other downloads")
        func oneBadID() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                _ = try await sandbox.run("get", server.url())
                expectFailure(10, of: try await sandbox.run("remove", try await sandbox.onlyID(), "99"))
                #expect(try await sandbox.list().count == 1)
            }
        }

        @Test("A store that cannot be made gives exit status 12")
        func noStore() async throws {
            try await withDlm(serving: FaultReply(Self.content)) { sandbox, server in
                let result = try await sandbox.run("get", server.url()) {
                    $0.environment["XDG_STATE_HOME"] = "/proc/nowhere"
                }
                expectFailure(12, of: result)
                #expect(sandbox.names == [])
            }
        }

        @Test("Control characters from a server never reach the terminal")
        func controlCharacters() async throws {
            let hostile = FaultReply(status: 302, fields: [("Location", "gopher://h/\u{1B}]0;owned\u{07}\u{1B}[31m")])
            try await withDlm(serving: hostile) { sandbox, server in
                let result = try await sandbox.run("get", server.url())
                expectFailure(7, of: result)
                #expect(!result.stderr.utf8.dropLast().contains { $0 < 32 || $0 == 127 })
            }
        }
    }
}
