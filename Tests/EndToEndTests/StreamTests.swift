import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Standard streams", .serialized, .timeLimit(.minutes(1)))
    struct StreamTests {
        let content = Content(seed: 120, size: mebibyte)

        /// Runs `dlm get` in a shell with this redirection of its streams.
        func get(_ redirection: String, _ sandbox: DlmSandbox, _ url: String) async throws -> ChildProcess.Result {
            var launch = try sandbox.launch([])
            launch.arguments = ["-c", "\(launch.executable) get \(url) \(redirection)"]
            launch.executable = "/bin/sh"
            return try await ChildProcess(launch).result()
        }

        @Test(
            "If standard streams are closed, no output is written into a downloaded file",
            arguments: [">&-", ">&- 2>&-", "<&- >&- 2>&-", "<&-"])
        func closed(redirection: String) async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let result = try await get(redirection, sandbox, server.url())
                #expect(result.ending == .exited(0), "\(result.stderr)")
                try expectFile(content, "file.bin", in: sandbox)
                #expect(try await sandbox.list().map(\.state) == ["completed"])
            }
        }

        @Test("If standard output cannot be written to, the command fails")
        func full() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let result = try await get(">/dev/full", sandbox, server.url())
                #expect(result.ending == .exited(3))
                #expect(result.errorLines.count == 1 && result.stderr.contains("standard output"), "\(result.stderr)")
                try expectFile(content, "file.bin", in: sandbox)
            }
        }

        @Test("Bad lines of a list are reported with their numbers, and the other lines are downloaded")
        func badLines() async throws {
            try await withDlm({ [content] in $0.target == "/gone" ? FaultReply(status: 404) : FaultReply(content) }) {
                sandbox, server in
                let list = "example.org/a\n# comment\n\n\(server.url("/b"))\ngopher://h/c\n"
                let bad = try await sandbox.perform("get", "-i", "-") { $0.input = list }
                #expect(bad.ending == .exited(2))
                #expect(bad.errorLines.count == 2, "\(bad.stderr)")
                let lines = bad.errorLines.sorted()
                #expect(lines.first?.hasPrefix("dlm: standard input:1: example.org/a: ") ?? false, "\(lines)")
                #expect(lines.last?.hasPrefix("dlm: standard input:5: gopher://h/c: ") ?? false, "\(lines)")
                #expect(bad.stdout == sandbox.file("b") + "\n")
                try expectFile(content, "b", in: sandbox)
                let worse = try await sandbox.perform("get", "-i", "-") { $0.input = list + server.url("/gone") }
                #expect(worse.ending == .exited(1), "\(worse.stderr)")
            }
        }
    }
}
