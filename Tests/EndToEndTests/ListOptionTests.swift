import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Options in lists", .serialized, .timeLimit(.minutes(1)))
    struct ListOptionTests {
        let content = Content(seed: 61, size: 200_000)

        private func handler(_ request: FaultRequest) -> FaultReply {
            request.target == "/gone" ? FaultReply(status: 404) : FaultReply(content)
        }

        @Test("Each URL of a list has its own name, folder and header fields", arguments: ["-", "list"])
        func options(path: String) async throws {
            try await withDlm(handler) { sandbox, server in
                let digest = content.sha256
                let list = """
                    \(server.url("/a"))
                      output=first
                      header=X-One: 1
                      checksum=sha256:\(digest)
                    \(server.url("/b"))
                    # as aria2 has it
                    \(server.url("/c"))
                      out=third
                      dir=sub/folder
                      checksum=sha-256=\(digest)

                    """
                try sandbox.root.write(list, to: "files/list")
                let result = try await sandbox.done("get", "--input-file", path) { if path == "-" { $0.input = list } }
                #expect(
                    result.outputLines.map { String($0) }.sorted()
                        == ["b", "first", "sub/folder/third"].map(sandbox.file))
                for name in ["b", "first", "sub/folder/third"] { try expectFile(content, name, in: sandbox) }
                let fields = ["/a", "/b", "/c"].map { server.log.requests(to: $0).first?.request["X-One"] }
                #expect(fields == ["1", nil, nil])
            }
        }

        @Test("A wrong option is reported with file and line; its URL is not fetched, and the other URLs are")
        func wrong() async throws {
            try await withDlm(handler) { sandbox, server in
                let list = """
                    \(server.url("/a"))
                      out=x
                      max-concurrent=3
                    \(server.url("/b"))
                      conections=3
                    \(server.url("/c"))

                    """
                try sandbox.root.write(list, to: "files/list")
                let result = try await sandbox.run("get", "-i", "list", "-d", "d")
                #expect(result.ending == .exited(2), "\(result.stderr)")
                #expect(result.stdout == sandbox.file("d/c") + "\n")
                #expect(server.log.entries.map(\.request.target) == ["/c"])
                let expected = [
                    "dlm: list:3: max-concurrent: applies to the whole command, not to one URL; give it on the "
                        + "command line",
                    "dlm: list:5: conections: unknown option; did you mean 'connections'?",
                ]
                #expect(result.errorLines.map { String($0) }.sorted() == expected)
                let several = try await sandbox.run("get", "-i", "-") {
                    $0.input = "\(server.url("/gone"))\n\(server.url("/e"))\n  split=0\n"
                }
                #expect(several.ending == .exited(1), "\(several.stderr)")
            }
        }

        @Test("The background session gets the options of a list, too, and does not store the secrets among them")
        func background() async throws {
            try await withDlm(handler) { sandbox, server in
                let token = SecretSearch.token
                let list =
                    "\(server.url("/a"))\n  out=x\n  header=Authorization: Bearer \(token)\n\(server.url("/b"))\n"
                let result = try await sandbox.done("get", "--background", "-i", "-") { $0.input = list }
                #expect(result.outputLines.count == 2)
                #expect(try await sandbox.run("wait", "--all").ending == .exited(0))
                try expectFile(content, "x", in: sandbox)
                try expectFile(content, "b", in: sandbox)
                #expect(server.log.requests(to: "/a").first?.request["Authorization"] == "Bearer \(token)")
                #expect(server.log.requests(to: "/b").first?.request["Authorization"] == nil)
                #expect(try await sandbox.run("daemon", "stop").ending == .exited(0))
                try SecretSearch(sandbox: sandbox).expectNoTrace("a list")
            }
        }

        @Test("The download of each line of a pipe begins, with its options, before the next line arrives")
        func pipe() async throws {
            try await withDlm(handler) { sandbox, server in
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
            try await withDlm(handler) { sandbox, server in
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
