import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Lists for many workers", .serialized, .timeLimit(.minutes(2)))
    struct ShardedListTests {
        @Test("A list from a server in three shards: every URL is fetched once, and the list itself is retried")
        func shards() async throws {
            let counts = Observed<[String: Int]>([:])
            let server = try FaultServer { request in
                let key = (request["Host"] ?? "") + request.target
                let number = counts.update { counts -> Int in
                    counts[key, default: 0] += 1
                    return counts[key] ?? 0
                }
                guard request.target == "/list" else { return FaultReply(Content(seed: 7, size: 100)) }
                if number == 1 { return FaultReply(status: 503) }
                let port = (request["Host"] ?? "").split(separator: ":").last ?? ""
                let lines = (0..<36).map { "http://h\($0 % 9).test:\(port)/f\($0)\n" }
                return FaultReply(Content(lines.joined()))
            }
            try await withDlm { sandbox in
                for index in 0..<3 {
                    try await sandbox.performDone(
                        "get", "-i", server.url("/list"), "--shard", "\(index)/3", "-d", "all", "--resolve",
                        "*:\(server.port):127.0.0.1")
                }
                #expect(sandbox.root.names(in: "files/all").count == 36)
            }
            let files = counts.value.filter { !$0.key.hasSuffix("/list") }
            #expect(files.count == 36 && files.values.allSatisfy { $0 == 1 }, "\(counts.value)")
        }

        @Test("If the server does not have the list, dlm ends with the exit status for this error")
        func missingList() async throws {
            try await withDlm({ _ in FaultReply(status: 404) }) { sandbox, server in
                let result = try await sandbox.perform("get", "-i", server.url("/list"))
                expectFailure(8, of: result)
                #expect(result.stderr.contains("/list: 404"), "\(result.stderr)")
            }
        }

        @Test("A list that is cut short is an error, and the URLs of the complete lines are downloaded")
        func cutList() async throws {
            try await withDlm({ request in
                guard request.target == "/list" else { return FaultReply(Content(seed: 7, size: 100)) }
                let list = ["/a.bin", "/b.bin", "/c.bin"].map { "http://\(request["Host"] ?? "")\($0)\n" }.joined()
                // The third line is cut within its name.
                return FaultReply(Content(list)).with { $0.cut = .close(after: Int64(list.utf8.count) - 3) }
            }) { sandbox, server in
                let result = try await sandbox.perform("get", "--retries", "0", "-i", server.url("/list"))
                #expect(result.ending == .exited(4), "\(result.stderr)")
                #expect(result.errorLines.count == 1 && result.stderr.contains("/list: "), "\(result.stderr)")
                #expect(sandbox.names == ["a.bin", "b.bin"])
                #expect(server.log.entries.map(\.request.target).sorted() == ["/a.bin", "/b.bin", "/list"])
            }
        }
    }
}
