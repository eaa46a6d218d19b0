import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Connections and servers that fail", .serialized, .timeLimit(.minutes(2)))
    struct AttemptFaultTests {
        let content = Content(seed: 70, size: 12 * mebibyte)

        static let cuts: [FaultReply.Cut] = [
            .close(after: 2 * mebibyte), .reset(after: 2 * mebibyte), .stall(after: mebibyte), .silence,
            .close(after: 0), .stall(after: 0), .close(after: 12 * mebibyte - 1), .stall(after: 12 * mebibyte - 1000),
        ]

        @Test("Further attempts recover from a broken transfer and keep the fetched bytes", arguments: [1, 4])
        func healed(connections: Int) async throws {
            let good = FaultReply(content, etag: "\"v1\"")
            try await concurrently(Self.cuts, atMost: 4) { [content] cut in
                try await withDlm({ $0.number <= 3 ? good.with { $0.cut = cut } : good }) { sandbox, server in
                    let result = try await sandbox.perform(
                        "get", "-x", "\(connections)", "--stall-timeout", "1", server.url())
                    try expectDownloaded(content, as: "file.bin", by: result, in: sandbox, cut)
                    // If a connection breaks, or another connection takes over its range, the bytes on their way are
                    // sent twice.
                    #expect(server.log.bytesSentTwice() <= mebibyte * Int64(connections), "\(cut)")
                }
            }
        }

        @Test(
            "A refusal is final, with its own status, and leaves nothing behind",
            arguments: [(404, 8), (410, 8), (403, 8), (400, 8), (401, 6), (407, 6)], [1, 4])
        func refusals(answer: (status: Int, exit: Int32), connections: Int) async throws {
            try await withDlm(serving: FaultReply(status: answer.status)) { sandbox, server in
                let result = try await sandbox.perform("get", "-x", "\(connections)", server.url())
                expectFailure(answer.exit, of: result)
                #expect(result.stderr.contains("\(answer.status)"))
                // Some servers reject the range, so after a 400 the request is sent once more without a range.
                #expect(server.log.entries.count == (answer.status == 400 ? 2 : 1))
                #expect(sandbox.names == [])
            }
        }

        @Test("A request that gets a server error is sent again; after the last retry the exit status is 8")
        func serverError() async throws {
            try await withDlm(serving: FaultReply(status: 500)) { sandbox, server in
                expectFailure(8, of: try await sandbox.perform("get", "--retries", "1", server.url()))
                #expect(server.log.entries.count == 2)
                #expect(sandbox.names == [])
            }
        }
    }
}
