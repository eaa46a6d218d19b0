import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("A digest in the trailer of the body", .inTurn, .timeLimit(.minutes(1)))
struct TrailerTests {
    @Test(
        "A digest in a trailer is compared, for a small file and for a large one", arguments: [5000, 2_000_000],
        [FaultReply.Framing.chunked, .contentLength])
    func compared(size: Int64, framing: FaultReply.Framing) async throws {
        let (content, other) = (Content(seed: 1, size: size), Content(seed: 2, size: size))
        for (named, isRight) in [(content, true), (other, false)] {
            let bench = try await SessionBench(
                serving: FaultReply(content).with {
                    $0.framing = framing
                    $0.ranges = .ignored
                    $0.lastChunk = "0\r\nRepr-Digest: sha-256=:\(named.base64Digest("sha256")):\r\n\r\n"
                })
            let record = try await bench.ending(of: try await bench.add())
            #expect(record.completed?.verifiedBy == (isRight ? .server : nil), "\(record.state)")
            #expect(bench.folder.names().contains("file.bin") == isRight)
            if !isRight { #expect(record.failure?.exitStatus == 9, "\(record.state)") }
        }
    }
}
