import Foundation
import HTTPTypes
import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("ServerDigest", .inTurn)
struct ServerDigestTests {
    /// The digests of "hello".
    static let sha256 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    static let sha512 = "m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw=="
    static let md5 = "XUFAKrxLKna5cZ2REBfFkg=="
    static let sha1 = "qvTGHdzF6KLavt4PO0gs2a6pQ00="
    static let hex = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    static func checksums(_ fields: [(String, String)], status: Int = 206) throws -> [String] {
        var head = ResponseHead(status: status)
        for (name, value) in fields { head.fields.append(HTTPField(name: try #require(.init(name)), value: value)) }
        return ServerDigest.checksums(of: head).map(\.description)
    }

    @Test("Repr-Digest is a dictionary of byte sequences, and its unknown members are left out")
    func representation() throws {
        let expected = ["sha256:\(Self.hex)"]
        for value in [
            "sha-256=:\(Self.sha256):", "  sha-256=:\(Self.sha256):  ", "sha-256=:\(Self.sha256):;x=1;y",
            "crc32c=:AAAAAA==:, sha-256=:\(Self.sha256):", "sha-256=:\(Self.sha256):,\tunixsum=:AAA=:",
            "sha-256=:AAAA:, sha-256=:\(Self.sha256):", "sha-999=:\(Self.sha256):,sha-256=:\(Self.sha256):",
            "sha-512=:\(Self.sha256):,sha-256=:\(Self.sha256):", "*a.b_c-d0=::,sha-256=:\(Self.sha256):",
        ] {
            #expect(try Self.checksums([("Repr-Digest", value)]) == expected, "\(value)")
        }
        #expect(
            try Self.checksums([
                ("Repr-Digest", "sha-512=:\(Self.sha512):"), ("repr-digest", "sha-256=:\(Self.sha256):"),
            ])
            .map { $0.prefix(7) } == ["sha256:", "sha512:"])
    }

    @Test("Content-Digest is the digest of the file only if the answer has the whole file")
    func content() throws {
        let field = ("Content-Digest", "sha-256=:\(Self.sha256):")
        #expect(try Self.checksums([field], status: 200) == ["sha256:\(Self.hex)"])
        #expect(try Self.checksums([field, ("Content-Range", "bytes 0-4/5")]) == ["sha256:\(Self.hex)"])
        #expect(try Self.checksums([field, ("Content-Range", "bytes 0-4/6")]).isEmpty)
        #expect(try Self.checksums([field]).isEmpty)
    }

    @Test("A trailer has digests of its own")
    func trailer() throws {
        let head = ResponseHead(status: 200)
        let trailers: HTTPFields = [try #require(.init("Repr-Digest")): "sha-256=:\(Self.sha256):"]
        #expect(ServerDigest.checksums(of: head, in: trailers).map(\.description) == ["sha256:\(Self.hex)"])
        #expect(ServerDigest.checksums(of: head, in: [:]).isEmpty)
        #expect(ServerDigest.checksums(of: head).isEmpty)
    }

    @Test(
        "A malformed Repr-Digest is ignored",
        arguments: [
            "", " ", ",", "sha-256", "sha-256=", "sha-256=:", "sha-256=::", "sha-256=\(sha256)", "sha-256=:\(sha256)",
            "sha-256=\"\(sha256)\"", "sha-256=:\(sha256):,", "sha-256=:\(sha256):,,a=:AA==:", "SHA-256=:\(sha256):",
            "sha-256=:\(sha256)::", "sha-256=:\(sha256):x", "sha-256 =:\(sha256):", "sha-256= :\(sha256):",
            "sha-256=(:\(sha256):)", "sha-256=?1", "sha-256=1", "sha-256=:\(sha256):, sha-512=?1", "sha-256=:!!!!:",
            "sha-256=:\(sha256.dropLast()):", "sha-256=:\(md5):", "-sha=:\(sha256):, sha-256=:\(sha256):",
            "sha-256=:\(sha256):;a=\"b,c\"", "sha\u{E9}=:\(sha256):", "=:\(sha256):",
            "sha-256=:\(sha256):" + String(repeating: ", a=:AAAA:", count: 1000),
        ])
    func malformed(_ value: String) throws {
        #expect(try Self.checksums([("Repr-Digest", value)]).isEmpty)
    }

    @Test(
        "In the older Digest field, algorithm names may be in upper or lower case, and malformed members are skipped")
    func instance() throws {
        let expected = ["sha256:\(Self.hex)"]
        for value in [
            "SHA-256=\(Self.sha256)", "sha-256=\(Self.sha256)", "UNIXsum=30637, Sha-256=\(Self.sha256) ",
            "nonsense,SHA-256=\(Self.sha256)", "SHA-512=????,sha-256=\(Self.sha256)", ",,SHA-256=\(Self.sha256),",
            "MD5=\(Self.sha256),SHA-256=\(Self.sha256)",
        ] {
            #expect(try Self.checksums([("Digest", value)]) == expected, "\(value)")
        }
        #expect(
            try Self.checksums([("Digest", "MD5=\(Self.md5),SHA=\(Self.sha1)")]) == [
                "sha1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d", "md5:5d41402abc4b2a76b9719d911017c592",
            ])
        for value in ["", "SHA-256", "SHA-256=", "SHA-256=:\(Self.sha256):", "id-sha-256=\(Self.sha256)"] {
            #expect(try Self.checksums([("Digest", value)]).isEmpty, "\(value)")
        }
    }

    @Test(
        "Content-MD5 counts for a 206 with the whole file, and for no other 206",
        arguments: [
            ("bytes 0-4/5", 1), ("bytes 0-3/5", 0), ("bytes 1-4/5", 0), ("bytes 0-4/*", 0), ("bytes */5", 0), ("", 0),
        ])
    func contentMD5OfPart(range: String, count: Int) throws {
        let fields = [("Content-MD5", Self.md5), ("Content-Range", range)]
        #expect(try Self.checksums(fields, status: 206).count == count)
    }

    @Test("Content-MD5 counts only for whole answers; Content-MD5 and Digest do not count for encoded answers")
    func contentMD5() throws {
        let field = [("Content-MD5", " \(Self.md5) ")]
        #expect(try Self.checksums(field, status: 200) == ["md5:5d41402abc4b2a76b9719d911017c592"])
        #expect(try Self.checksums(field, status: 206).isEmpty)
        #expect(try Self.checksums([("Content-MD5", "x")], status: 200).isEmpty)
        let old = field + [("Digest", "SHA-256=\(Self.sha256)")]
        #expect(try Self.checksums(old + [("Content-Encoding", "gzip")], status: 200).isEmpty)
        #expect(try Self.checksums(old + [("Content-Encoding", "identity")], status: 200).count == 2)
        let new = old + [("Repr-Digest", "sha-256=:\(Self.sha256):"), ("Content-Encoding", "gzip")]
        #expect(try Self.checksums(new, status: 200).count == 1)
    }

    @Test("Repr-Digest outranks Digest, and SHA-256 outranks all other algorithms")
    func order() throws {
        let other = Data(repeating: 1, count: 32).base64EncodedString()
        let fields = [
            ("Digest", "SHA-256=\(other),MD5=\(Self.md5)"),
            ("Repr-Digest", "sha-512=:\(Self.sha512):, sha-256=:\(Self.sha256):"),
        ]
        #expect(try Self.checksums(fields).first == "sha256:\(Self.hex)")
        #expect(try Self.checksums(fields).count == 3)
    }

    @Test("Another digest by the same algorithm is evidence of another version")
    func contradiction() throws {
        var head = ResponseHead(status: 206)
        head.fields[try #require(.init("Repr-Digest"))] = "sha-256=:\(Self.sha256):"
        let same = Checksum(algorithm: .sha256, digest: Self.hex)
        #expect(ServerDigest.contradicts(same, head) == nil)
        #expect(ServerDigest.contradicts(Checksum(algorithm: .sha512, digest: "00"), head) == nil)
        #expect(ServerDigest.contradicts(Checksum(algorithm: .sha256, digest: "00"), head) == same)
    }
}
