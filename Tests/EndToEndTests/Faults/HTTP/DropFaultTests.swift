import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults that come again and again", .serialized, .timeLimit(.minutes(5)))
    struct DropFaultTests {
        @Test(
            "Twenty lost connections in a row lose no progress: at most 64 KiB for each are sent twice",
            arguments: [1, 4])
        func twentyDrops(connections: Int) async throws {
            var random = SeededGenerator(for: "drops, \(connections)")
            let content = Content(seed: 303, size: 24 * mebibyte)
            let cuts = (0..<20).map { index in
                let count = Int64.random(in: 1...mebibyte, using: &random)
                return index % 2 == 0 ? FaultReply.Cut.close(after: count) : .reset(after: count)
            }
            let good = FaultReply(content, etag: "\"v1\"").with { $0.bytesPerSecond = Int(8 * mebibyte) }
            let trial = FaultTrial(area: .http, fault: "connection lost 20 times in a row", connections: connections)
            try await withDlm({ request in
                cuts.indices.contains(request.number - 1) ? good.with { $0.cut = cuts[request.number - 1] } : good
            }) { sandbox, server in
                let result = try await sandbox.run(
                    ["get", "-x", "\(connections)", "--retry-delay", "0.1", server.url()], asProcess: connections == 1)
                try trial.judge(result, in: sandbox, right: [content], errors: [])
                #expect(server.log.entries.count > 20)
                // A connection is lost after at most 1 MiB, usually before the next checkpoint. If each drop lost the
                // bytes since the last checkpoint, up to 20 MiB would be sent twice.
                let twice = server.log.bytesSentTwice()
                #expect(twice <= promised(atMost: 20 * (64 << 10), connections: connections), "\(cuts)")
            }
        }
    }
}
