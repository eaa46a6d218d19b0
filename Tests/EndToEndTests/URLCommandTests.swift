import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Links that expire: --url-command", .serialized, .timeLimit(.minutes(2)))
    struct URLCommandTests {
        static let content = Content(seed: 783, size: 5 * mebibyte + 7)

        func command(_ sandbox: DlmSandbox, _ server: FaultServer, _ text: String) throws -> String {
            try sandbox.root.write("#!/bin/sh\n\(text)\n", to: "link.sh")
            return "sh \(sandbox.root("link.sh"))"
        }

        @Test(
            "After 401, 403 and 410, a new link is requested from the command, and the download continues",
            arguments: [401, 403, 410],
            [false, true])
        func renewed(status: Int, inBackground: Bool) async throws {
            let good = Observed(0)
            try await withDlm({ request in
                let link = request.target.components(separatedBy: "link=").last.flatMap { Int($0) } ?? 0
                if link == 0 { return FaultReply(status: status) }
                // The first good link works for one request, which is cut.
                let number = good.update { count -> Int in
                    count += 1
                    return count
                }
                if link == 1, number > 1 { return FaultReply(status: status) }
                return FaultReply(Self.content, etag: "\"v1\"").with {
                    if link == 1 { $0.cut = .close(after: 2 * mebibyte) }
                }
            }) { sandbox, server in
                let count = sandbox.root("count")
                let command = try command(
                    sandbox, server,
                    """
                    n=$(cat \(count) 2>/dev/null || echo 0); n=$((n + 1)); echo $n >\(count)
                    read url; echo "$url $DLM_ID $DLM_HTTP_STATUS" >>\(sandbox.root("asked"))
                    echo "\(server.url("/file.bin?link="))$n"; echo noise
                    """)
                var words = [
                    "get", "-x", "1", "--retries", "3", "--retry-delay", "0.1", "--url-command", command,
                    server.url("/file.bin?link=0"),
                ]
                if inBackground { words.append("-b") }
                try await sandbox.done(words)
                try await sandbox.waitForStates { $0 == ["completed"] }
                try expectFile(Self.content, "file.bin", in: sandbox)
                let asked = try String(contentsOfFile: sandbox.root("asked"), encoding: .utf8).split(separator: "\n")
                #expect(asked.count == 2, "\(asked)")
                #expect(asked.first?.hasSuffix("/file.bin?link=0 1 \(status)") == true, "\(asked)")
                let shown = try await sandbox.run("show", "1")
                #expect(shown.stdout.contains("url-command=sh "), "\(shown.stdout)")
            }
        }

        @Test("A URL that contains its expiry time is not requested after that time")
        func known() async throws {
            try await withDlm(serving: FaultReply(Self.content, etag: "\"v1\"")) { sandbox, server in
                let command = try command(sandbox, server, "echo '\(server.url("/new.bin"))'")
                let old = server.url("/old.bin?X-Amz-Date=20200101T000000Z&X-Amz-Expires=60")
                try await sandbox.done("get", "--url-command", command, old)
                #expect(server.log.entries.allSatisfy { $0.request.target == "/new.bin" })
            }
        }

        @Test(
            "A command that prints no new link gives one clear line",
            arguments: [
                ("echo no such thing >&2; exit 3", "ended with status 3: no such thing"), ("true", "printed no URL"),
                ("echo ftp://x/", "printed something other than an http or https URL"), ("sleep 60", "was ended after"),
                ("kill -9 $$", "ended with status 137"), ("yes", "ended with status 1: yes"),
            ])
        func failing(text: String, why: String) async throws {
            try await withDlm(serving: FaultReply(status: 403)) { sandbox, server in
                let command = try command(sandbox, server, text)
                let result = try await sandbox.run(
                    "get", "--hook-timeout", "1", "--url-command", command, server.url())
                expectFailure(8, of: result, text)
                #expect(result.stderr.contains("403 Forbidden; --url-command \(why)"), "\(result.stderr)")
                #expect(server.log.entries.count == 1)
            }
        }

        @Test("If a command prints the same link, or only links that fail, dlm does not run it forever")
        func endless() async throws {
            try await withDlm(serving: FaultReply(status: 403)) { sandbox, server in
                let same = try command(sandbox, server, "cat")
                let first = try await sandbox.run("get", "--url-command", same, server.url())
                expectFailure(8, of: first)
                #expect(first.stderr.contains("printed the URL that has expired"), "\(first.stderr)")
                let other = try command(sandbox, server, "echo \(server.url("/"))$(date +%N)")
                let second = try await sandbox.run(
                    "get", "--retries", "2", "-o", "b", "--url-command", other, server.url("/b"))
                expectFailure(8, of: second)
                #expect(server.log.entries.count == 1 + 3)
            }
        }

        @Test("If the new URL leads to another file, the status is 9, and the fetched bytes are kept")
        func otherFile() async throws {
            let other = Content(seed: 784, size: 5 * mebibyte + 7)
            try await withDlm({ request in
                if request.target.contains("other") { return FaultReply(other, etag: "\"v2\"") }
                guard request.number == 1 else { return FaultReply(status: 403) }
                return FaultReply(Self.content, etag: "\"v1\"").with { $0.cut = .close(after: 2 * mebibyte) }
            }) { sandbox, server in
                let command = try command(sandbox, server, "echo '\(server.url("/other"))'")
                let result = try await sandbox.run(
                    "get", "-x", "1", "--retry-delay", "0.1", "--url-command", command, server.url("/file.bin"))
                expectFailure(9, of: result)
                #expect(sandbox.exists("file.bin.part"))
                #expect(!sandbox.exists("file.bin"))
            }
        }

        @Test("A list cannot set --url-command, because it may come from somebody else")
        func list() async throws {
            try await withDlm { sandbox in
                try sandbox.root.write("http://127.0.0.1:9/x\n  url-command=touch /tmp/x\n", to: "files/list")
                let result = try await sandbox.run("get", "-i", "list")
                #expect(result.ending != .exited(0))
                #expect(result.stderr.contains("url-command"), "\(result.stderr)")
            }
        }
    }
}
