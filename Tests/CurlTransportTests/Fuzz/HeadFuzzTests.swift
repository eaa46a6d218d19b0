import DownloadCore
import DownloadTestSupport
import HTTPTypes
import Testing

@testable import CurlTransport

/// Header lines as no server should send them, cut at any place.
@Suite("Fuzzing: response heads", .inTurn)
struct HeadFuzzTests {
    static let heads = [
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/10\r\nETag: \"a\"\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/2 200\r\ncontent-length: 5\r\n\r\nTrailer: x\r\n\r\n",
        "HTTP/1.0 302 Found\r\nLocation: /\u{FC}\r\n Folded: line\r\nEmpty:\r\nNo colon\r\n\r\n",
    ]

    @Test("Only final heads are reported, at most one, and no field of a head contains a line break")
    func heads() {
        let fuzzing = Fuzzing(
            "Response heads", corpus: Self.heads, words: ["\n x", "HTTP/1.1 ", "\r\n\r\n", ":", "200"])
        fuzzing.run { input in
            var parser = ResponseHeadParser()
            var heads: [ResponseHead] = []
            // libcurl delivers one line at a time, with its line break.
            for line in Self.lines(input) {
                switch line.withUnsafeBytes({ parser.take($0) }) {
                case .incomplete: continue
                case .head(let head): heads.append(head)
                case .tooLarge: return input.count > ResponseHeadParser.sizeLimit ? nil : "too large?"
                }
            }
            if heads.count > 1 { return "\(heads.count) heads" }
            guard let head = heads.first else { return nil }
            let breaks = head.fields.contains { $0.value.utf8.contains { [0, 10, 13].contains($0) } }
            return head.status < 200 ? "status \(head.status)" : breaks ? "a line break in a field" : nil
        }
        fuzzing.runsInLinearTime(after: ["", "HTTP/1.1 200 OK\r\nA: b\r\n"]) { input in
            var parser = ResponseHeadParser()
            for line in Self.lines(input) { _ = line.withUnsafeBytes { parser.take($0) } }
        }
    }

    private static func lines(_ input: [UInt8]) -> [[UInt8]] {
        input.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) + [0x0A] }
    }
}
