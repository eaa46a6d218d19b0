import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of digests", .timeLimit(.minutes(5)))
    struct DigestFaultTests {
        static let zeros = String(repeating: "A", count: 43) + "="

        private static let fields: [(name: String, field: (name: String, value: String))] = [
            ("Repr-Digest of other bytes", ("Repr-Digest", "sha-256=:\(zeros):")),
            ("Content-Digest of other bytes", ("Content-Digest", "sha-256=:\(zeros):")),
            ("Digest of other bytes", ("Digest", "SHA-256=\(zeros)")),
            ("Content-MD5 of other bytes", ("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA==")),
            ("Repr-Digest malformed", ("Repr-Digest", "sha-256=:not base64:, =:")),
            ("Repr-Digest of an unknown algorithm", ("Repr-Digest", "sha-999=:\(zeros):")),
            ("Digest malformed", ("Digest", "SHA-256")),
        ]

        /// A digest of other bytes, or none at all: the file as the server sent it, or a refusal.
        static let faults: [HTTPFault] = fields.map { name, field in
            HTTPFault(name, fresh: .either([9])) { $0.fields += [field] }.with {
                $0.area = .digest
                $0.segment = .either([9])
                $0.losesPart = true
            }
        }

        @Test("Digests that are wrong")
        func wrong() async throws { try await HTTPFaultCell.run(Self.faults) }
    }
}
