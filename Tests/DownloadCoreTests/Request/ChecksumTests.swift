import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite(.inTurn) struct ChecksumTests {
    @Test(
        "Each algorithm is read only with its exact number of digits",
        arguments: zip(Checksum.Algorithm.allCases, [32, 40, 56, 64, 96, 128]))
    func algorithms(_ algorithm: Checksum.Algorithm, _ digits: Int) {
        let digest = String(repeating: "0f", count: digits / 2)
        let checksum = Checksum("\(algorithm.rawValue):\(digest)")
        #expect(checksum == Checksum(algorithm: algorithm, digest: digest))
        #expect(checksum?.description == "\(algorithm.rawValue):\(digest)")
        #expect(Checksum("\(algorithm.rawValue):\(digest)0") == nil)
        #expect(Checksum("\(algorithm.rawValue):\(digest.dropLast())") == nil)
        #expect(Checksum("\(algorithm.rawValue):\(digest)00") == nil)
    }

    @Test("The spellings of aria2 and upper case are read", arguments: ["sha-1=", "SHA-1:", "Sha1=", "sha1:"])
    func spellings(_ start: String) {
        let digest = "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"
        #expect(Checksum(start + digest) == Checksum(algorithm: .sha1, digest: digest.lowercased()))
    }

    @Test(
        "Text that is not a checksum is refused",
        arguments: [
            "", ":", "=", "md5", "md5:", "md5=", ":d41d8cd98f00b204e9800998ecf8427e",
            "d41d8cd98f00b204e9800998ecf8427e", "crc32:00000000", "md4:d41d8cd98f00b204e9800998ecf8427e",
            "md5:d41d8cd98f00b204e9800998ecf8427g", "md5:d41d8cd98f00b204e9800998ecf8427 ",
            " md5:d41d8cd98f00b204e9800998ecf8427e", "md5 :d41d8cd98f00b204e9800998ecf8427e",
            "md5::d41d8cd98f00b204e9800998ecf8427", "md5:0xd41d8cd98f00b204e9800998ecf842",
            "md5:d41d8cd98f00b204e9800998ecf842\u{E9}", "md5:\u{FF11}41d8cd98f00b204e9800998ecf84",
            "sha256:d41d8cd98f00b204e9800998ecf8427e", "md5\u{301}:d41d8cd98f00b204e9800998ecf8427e",
        ])
    func refuses(_ text: String) {
        #expect(Checksum(text) == nil)
    }

    @Test("A checksum survives encoding")
    func codable() throws {
        let checksum = try #require(Checksum("md5:D41D8CD98F00B204E9800998ECF8427E"))
        #expect(try JSONDecoder().decode(Checksum.self, from: JSONEncoder().encode(checksum)) == checksum)
    }

    @Test("Every algorithm has a place in the order of preference")
    func preferred() {
        #expect(Checksum.Algorithm.preferred.count == Checksum.Algorithm.allCases.count)
        #expect(Set(Checksum.Algorithm.preferred) == Set(Checksum.Algorithm.allCases))
    }
}
