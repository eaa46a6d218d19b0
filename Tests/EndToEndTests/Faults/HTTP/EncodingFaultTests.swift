import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of encodings", .serialized, .timeLimit(.minutes(5)))
    struct EncodingFaultTests {
        /// A substitute for compressed bytes. Nothing decodes them.
        static let encoded = Content(seed: 304, size: HTTPFault.content.size)

        private static func encoded(_ coding: String) -> [HTTPFault] {
            [
                // The server sends the encoding from the beginning, or the encoded representation has another ETag.
                HTTPFault("Content-Encoding \(coding) nobody asked for", later: .fails([9])) { _, _ in
                    FaultReply(encoded, etag: "\"\(coding)\"").with { $0.fields = [("Content-Encoding", coding)] }
                }.with {
                    $0.right = encoded
                    $0.segment = .either([7, 9])
                },
                // Both representations have the same strong ETag. Their bytes must not be mixed.
                HTTPFault("Content-Encoding \(coding) nobody asked for, under the same ETag", later: .fails([9])) {
                    good, _ in
                    FaultReply(encoded, etag: good.etag).with { $0.fields = [("Content-Encoding", coding)] }
                }.with {
                    $0.right = encoded
                    $0.segment = .either([7, 9])
                },
            ]
        }

        @Test(
            "A body in an encoding that was not requested is never mixed with bytes of another encoding",
            arguments: ["gzip", "br", "x-unknown"])
        func encodings(coding: String) async throws {
            try await HTTPFaultCell.run(Self.encoded(coding), short: 2)
        }
    }
}
