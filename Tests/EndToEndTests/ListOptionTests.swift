import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Options in lists", .serialized, .timeLimit(.minutes(1)))
    struct ListOptionTests {
        let content = Content(seed: 61, size: 200_000)

        @Test("The download of each line of a pipe begins, with its options, before the next line arrives")
        func pipe() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let result = try await sandbox.runShell(
                    """
                    { printf '%s\\n  out=x\\n' '\(server.url("/a"))'; while [ ! -e x ]; do sleep 0.02; done
                      printf '%s\\n' '\(server.url("/b"))'; } | $dlm get -i -
                    """)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(result.outputLines.map { String($0) } == ["x", "b"].map(sandbox.file))
            }
        }

        @Test("The id of each line of a pipe is printed before the next line arrives")
        func pipeToBackground() async throws {
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let result = try await sandbox.runShell(
                    """
                    { printf '%s\\n' '\(server.url("/a"))'; until grep -qx 1 ids; do sleep 0.02; done
                      printf '%s\\n' '\(server.url("/b"))'; } | $dlm get -b -i - >ids
                    """)
                #expect(result.ending == .exited(0), "\(result.stderr)")
                #expect(try String(contentsOfFile: sandbox.file("ids"), encoding: .utf8) == "1\n2\n")
                try await sandbox.done("wait", "--all")
            }
        }
    }
}
