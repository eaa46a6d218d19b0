import DownloadCore
import DownloadTestSupport
import Testing

@testable import DownloadSystem

@Suite("RunningDigest", .inTurn)
struct RunningDigestTests {
    /// The check values of the catalogue of parametrised CRC algorithms, of the text "123456789".
    static let checks = [
        Checksum(algorithm: .crc32, digest: "cbf43926"), Checksum(algorithm: .crc32c, digest: "e3069283"),
        Checksum(algorithm: .crc64nvme, digest: "ae8b14860a799888"),
    ]

    @Test("A CRC has its check value, whatever the pieces are in which the bytes come", arguments: checks)
    func crc(expected: Checksum) throws {
        let bytes = Array("123456789".utf8)
        for first in 0...9 {
            for second in first...9 {
                let digest = try RunningDigest(expected.algorithm)
                for piece in [bytes[..<first], bytes[first..<second], bytes[second...]] {
                    try piece.withUnsafeBytes { try digest.add($0) }
                    // A copy is finished, so more bytes can follow.
                    _ = try digest.checksum()
                }
                #expect(try digest.checksum() == expected, "\(first), \(second)")
            }
        }
    }

    @Test("A CRC of no bytes is zero")
    func empty() throws {
        #expect(try RunningDigest(.crc32c).checksum().digest == "00000000")
        #expect(try RunningDigest(.crc64nvme).checksum().digest == "0000000000000000")
    }
}
