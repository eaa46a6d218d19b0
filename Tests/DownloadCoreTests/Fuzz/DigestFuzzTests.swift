import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore

/// Checksum files and digest fields.
@Suite("Fuzzing: digests", .inTurn)
struct DigestFuzzTests {
    static let md5 = String(repeating: "0aF9", count: 8)
    static let sha256 = String(repeating: "0aF9", count: 16)
    static let lists = [
        "\(sha256)  debian.iso\n\(sha256) *pool/a b.deb\n# comment\n", "SHA256 (debian.iso) = \(sha256)\r\n",
        "SHA2-256(a)= \(sha256)\nMD5 (a) = \(md5)\n", "\(md5)\n", "\\\(md5)  a\\nb\\\\c\n", "\u{FEFF}\(md5)  -\n",
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n\(md5)  x\n- --\n-----BEGIN PGP SIGNATURE-----\nabc\n",
    ]

    @Test("Checksum files: each entry has a valid digest and is found by its path")
    func list() {
        let words = ["\n", "  ", " *", "SHA256 (", ") = ", "\\n", "\\\\", "./", Self.md5, Self.sha256, "-----"]
        let fuzzing = Fuzzing("Checksum files", corpus: Self.lists, words: words)
        fuzzing.run { input in
            guard let list = try? ChecksumList(input, source: "list") else { return nil }
            if list.entries.isEmpty { return "an empty list" }
            for entry in list.entries {
                if Checksum(entry.checksum.description) != entry.checksum { return "\(entry.checksum)" }
                if entry.name.utf8.contains(UInt8(ascii: "/")) { return "the name \(entry.name)" }
                let path = entry.folder.isEmpty ? entry.name : "\(entry.folder)/\(entry.name)"
                if entry.name.isEmpty { continue }
                // Two digests for one path are an error, so only a missing digest is wrong here.
                guard (try? list.checksum(for: path)) != .some(nil) else { return "\(path) is not found" }
            }
            return nil
        }
        fuzzing.runsInLinearTime { _ = try? ChecksumList($0, source: "list") }
    }

    @Test("A checksum file with one name many times is read and searched in linear time")
    func repeated() {
        Fuzzing("Checksum entries", corpus: ["\(Self.md5)  a\n", "MD5 (a/a) = \(Self.md5)\n"]).runsInLinearTime {
            _ = try? ChecksumList($0, source: "list").checksum(for: "b/a")
        }
    }

    @Test("Digest fields: at most one checksum for each algorithm, of the right length, the preferred one first")
    func fields() {
        let digest = Data(repeating: 7, count: 32).base64EncodedString()
        let short = Data(repeating: 7, count: 16).base64EncodedString()
        let corpus = [
            "sha-256=:\(digest):", "sha-256=:\(digest):, md5=:\(short):;x=1", "SHA-256=\(digest),MD5=\(short)", short,
            "sha-512=::, *key=:AA==:", "unixsum=5", "crc32c=AAAAAA==,md5=\(short)", "\"\(Self.md5)\"", "AAAAAA==",
        ]
        let fuzzing = Fuzzing("Digest fields", corpus: corpus, words: ["=:", ":,", "sha-256=", "==", ";"])
        func checksums(_ input: [UInt8]) -> [Checksum] {
            var head = ResponseHead.of(
                200,
                [
                    ("x-ms-blob-type", "BlockBlob"), ("Server", "AmazonS3"), ("x-amz-request-id", "a"),
                    ("x-amz-id-2", "b"),
                ])
            let names = [
                "Repr-Digest", "Digest", "Content-MD5", "x-goog-hash", "x-ms-blob-content-md5", "x-amz-checksum-crc32c",
                "ETag",
            ]
            for name in names.compactMap({ HTTPField.Name($0) }) {
                head.fields.append(HTTPField(name: name, value: String(decoding: input, as: UTF8.self)))
            }
            return ServerDigest.checksums(of: head)
        }
        fuzzing.run { input in
            let found = checksums(input)
            if Set(found.map(\.algorithm)).count != found.count { return "\(found)" }
            if found.contains(where: { $0.digest.utf8.count != $0.algorithm.digits }) { return "\(found)" }
            return found.map(\.algorithm) == Checksum.Algorithm.preferred.filter(found.map(\.algorithm).contains)
                ? nil : "in another order: \(found)"
        }
        fuzzing.runsInLinearTime { _ = checksums($0) }
    }
}
