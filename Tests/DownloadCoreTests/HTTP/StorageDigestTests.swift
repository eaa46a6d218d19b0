import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore

/// The fields of storage services, as their documentation shows them, and as nobody should send them.
@Suite("StorageDigest", .inTurn)
struct StorageDigestTests {
    /// The digests of "hello".
    static let md5 = "XUFAKrxLKna5cZ2REBfFkg=="
    static let hexMD5 = "5d41402abc4b2a76b9719d911017c592"
    static let sha256 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    static let hexSHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    static let hexSHA1 = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
    static let crc32c = "mnG7TA=="

    typealias Fields = [(name: String, value: String)]

    static func found(_ fields: Fields, status: Int = 200) -> [String] {
        ServerDigest.checksums(of: .of(status, fields)).map(\.description)
    }

    // MARK: Google Cloud Storage

    static let both = ["md5:\(hexMD5)", "crc32c:9a71bb4c"]

    @Test(
        "x-goog-hash names its digests in one field or in several, in any order and case; MD5 is preferred to the CRC")
    func google() {
        for values in [
            ["crc32c=\(Self.crc32c),md5=\(Self.md5)"], ["crc32c=\(Self.crc32c)", "md5=\(Self.md5)"],
            ["md5=\(Self.md5) ,  CRC32C=\(Self.crc32c)"], ["md5=\(Self.md5)", "crc32c=\(Self.crc32c),sha9=AAAA,x"],
            ["md5=\(Self.md5),md5=\(Self.md5),crc32c=\(Self.crc32c)"],
        ] {
            #expect(Self.found(values.map { ("x-goog-hash", $0) }) == Self.both, "\(values)")
        }
        #expect(Self.found([("X-Goog-Hash", "crc32c=\(Self.crc32c)")]) == ["crc32c:9a71bb4c"])
    }

    @Test(
        "An x-goog-hash with another form or length is ignored",
        arguments: [
            "", "md5", "md5=", "md5=\(hexMD5)", "md5=\(crc32c)", "crc32c=\(md5)", "md5=:\(md5):", "md5=\"\(md5)\"",
            "crc32c=9a71bb4c", "md5=\(md5.dropLast())", "md5= \(md5)", "md5=\(md5);", "crc32=\(crc32c)",
            "sha256=\(sha256)", "md5=\(md5),md5=1B2M2Y8AsgTpgAmY7PhCfg==", "=\(md5)",
            String(repeating: "x=AAAA,", count: 2000) + "md5=\(md5)",
        ])
    func googleMalformed(_ value: String) {
        #expect(Self.found([("x-goog-hash", value)]).isEmpty)
    }

    @Test(
        "x-goog-hash counts for a part, and for no content with another coding than that of the object",
        arguments: [
            (nil, nil, true), ("identity", nil, true), ("gzip", "gzip", true), ("GZIP", "gzip", true),
            ("gzip", nil, false), ("identity", "gzip", false), (nil, "br", false), ("gzip", "br", false),
            ("gzip, gzip", nil, false),
        ] as [(String?, String?, Bool)])
    func googleCoding(stored: String?, served: String?, counts: Bool) {
        var fields: Fields = [("x-goog-hash", "crc32c=\(Self.crc32c),md5=\(Self.md5)")]
        if let stored { fields.append(("x-goog-stored-content-encoding", stored)) }
        if let served { fields.append(("Content-Encoding", served)) }
        #expect(Self.found(fields) == (counts ? Self.both : []))
        #expect(Self.found(fields + [("Content-Range", "bytes 2-3/5")], status: 206) == (counts ? Self.both : []))
        var decoded = ResponseHead.of(200, fields)
        decoded.isDecoded = true
        #expect(ServerDigest.checksums(of: decoded).isEmpty)
        #expect(Self.found(fields, status: 304).isEmpty)
    }

    // MARK: Azure

    @Test(
        "x-ms-blob-content-md5 is of the whole block blob, also in an answer with a part; Content-MD5 is of the part",
        arguments: [
            ("BlockBlob", md5, true), ("BlockBlob", " \(md5) ", true), ("PageBlob", md5, false),
            ("AppendBlob", md5, false), ("", md5, false), ("BlockBlob", hexMD5, false), ("BlockBlob", "", false),
            ("BlockBlob", "\(md5), \(md5)", false), ("BlockBlob", "\"\(md5)\"", false), ("BlockBlob", sha256, false),
        ])
    func azure(type: String, value: String, counts: Bool) {
        let part: Fields = [("Content-Range", "bytes 2-3/5"), ("Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg==")]
        let fields: Fields = [("x-ms-blob-type", type), ("x-ms-blob-content-md5", value)]
        let expected = counts ? ["md5:\(Self.hexMD5)"] : []
        #expect(Self.found(fields) == expected)
        #expect(Self.found(fields + part, status: 206) == expected)
        #expect(Self.found(fields + [("Content-Encoding", "gzip")]).isEmpty)
    }

    // MARK: S3

    static let s3: Fields = [("Server", "AmazonS3"), ("x-amz-request-id", "A1"), ("x-amz-id-2", "b+c=")]

    @Test(
        "The checksums of S3 are in base64",
        arguments: [
            ("sha256", sha256, "sha256:\(hexSHA256)"), ("sha1", "qvTGHdzF6KLavt4PO0gs2a6pQ00=", "sha1:\(hexSHA1)"),
            ("md5", md5, "md5:\(hexMD5)"), ("crc32", "NhCmhg==", "crc32:3610a686"),
            ("crc32c", crc32c, "crc32c:9a71bb4c"),
            ("crc64nvme", "AAECAwQFBgc=", "crc64nvme:0001020304050607"),
        ])
    func amazon(name: String, value: String, text: String) {
        let fields: Fields = Self.s3.dropFirst() + [("x-amz-checksum-\(name)", value)]
        let expected = [text]
        #expect(Self.found(fields) == expected)
        #expect(Self.found(fields + [("x-amz-checksum-type", "FULL_OBJECT")]) == expected)
        #expect(Self.found(fields + [("Content-Range", "bytes 0-4/5")], status: 206) == expected)
        // With a part, the checksum may be of an uploaded part.
        #expect(Self.found(fields + [("Content-Range", "bytes 0-3/5")], status: 206).isEmpty)
        #expect(Self.found(fields + [("x-amz-checksum-type", "COMPOSITE")]).isEmpty)
        #expect(Self.found(fields + [("x-amz-checksum-type", "composite")]).isEmpty)
        #expect(Self.found(fields + [("Content-Encoding", "gzip")]).isEmpty)
        #expect(Self.found(fields.filter { $0.name != "x-amz-request-id" }).isEmpty)
        #expect(Self.found(fields + [fields[fields.endIndex - 1]]).isEmpty, "twice")
        for bad in ["\(value)-3", String(value.dropLast()), "\"\(value)\"", "AAAA", "", ":\(value):"] {
            #expect(Self.found(Self.s3.dropFirst() + [("x-amz-checksum-\(name)", bad)]).isEmpty, "\(bad)")
        }
    }

    @Test("Of the checksums of S3, the strongest is first; two that contradict each other do not count")
    func amazonSeveral() {
        let several: Fields = [("x-amz-checksum-crc32c", Self.crc32c), ("x-amz-checksum-sha256", Self.sha256)]
        #expect(Self.found(Self.s3 + several) == ["sha256:\(Self.hexSHA256)", "crc32c:9a71bb4c"])
        let tagged = Self.s3 + several + [("ETag", "\"\(Self.hexMD5)\"")]
        #expect(Self.found(tagged) == ["sha256:\(Self.hexSHA256)", "md5:\(Self.hexMD5)", "crc32c:9a71bb4c"])
        let contradicted = tagged + [("x-amz-checksum-md5", "1B2M2Y8AsgTpgAmY7PhCfg==")]
        #expect(Self.found(contradicted) == ["sha256:\(Self.hexSHA256)", "crc32c:9a71bb4c"])
    }

    @Test("The ETag of S3 is an MD5 digest, also in an answer with a part")
    func tag() {
        let fields = Self.s3 + [("ETag", "\"\(Self.hexMD5)\"")]
        let digest = ["md5:\(Self.hexMD5)"]
        #expect(Self.found(fields) == digest)
        #expect(Self.found(fields + [("Content-Range", "bytes 2-3/5")], status: 206) == digest)
        #expect(Self.found(fields + [("x-amz-server-side-encryption", "AES256")]) == digest)
        #expect(Self.found(fields + [("x-amz-storage-class", "STANDARD_IA")]) == digest)
        for other: (name: String, value: String) in [
            ("x-amz-server-side-encryption", "aws:kms"), ("x-amz-server-side-encryption", "aws:kms:dsse"),
            ("x-amz-server-side-encryption", ""), ("x-amz-server-side-encryption-customer-algorithm", "AES256"),
            ("x-amz-storage-class", "EXPRESS_ONEZONE"), ("x-amz-storage-class", "FSX_OPENZFS"),
            ("Content-Encoding", "gzip"), ("Server", "AmazonS3"), ("ETag", "\"\(Self.hexMD5)\""),
        ] {
            #expect(Self.found(fields + [other]).isEmpty, "\(other)")
        }
        for name in ["Server", "x-amz-request-id", "x-amz-id-2"] {
            #expect(Self.found(fields.filter { $0.name != name }).isEmpty, "without \(name)")
        }
        for server in ["MinIO", "cloudflare", "amazons3", "AmazonS3 proxy"] {
            let others: Fields = fields.map { $0.name == "Server" ? (name: "Server", value: server) : $0 }
            #expect(Self.found(others).isEmpty, "\(server)")
        }
    }

    @Test(
        "An ETag of another form is no digest",
        arguments: [
            "\"\(hexMD5)-1\"", "\"\(hexMD5)-23\"", "W/\"\(hexMD5)\"", hexMD5, "\"\(hexMD5.dropLast())\"",
            "\"\(hexSHA256)\"",
            "\"\(hexMD5.dropLast())g\"", "\" \(hexMD5)\"", "\"\(hexMD5)", "\"\"", "\"\(md5)\"", "\"9a71bb4c\"",
        ])
    func otherTags(_ tag: String) {
        #expect(Self.found(Self.s3 + [("ETag", tag)]).isEmpty)
    }

    // MARK: The Hub

    static func linked(_ fields: Fields, from url: String = "https://hub.example/a", to location: String? = "x") throws
        -> StorageDigest.Linked?
    {
        var head = ResponseHead.of(302, fields)
        head.redirectURL = location
        return StorageDigest.linked(by: head, from: try SourceURL.parse(url).get().url)
    }

    @Test("A redirect over https states the SHA-256 digest and the size of the file")
    func hub() throws {
        let fields: Fields = [("X-Linked-Etag", "\"\(Self.hexSHA256)\""), ("X-Linked-Size", "5")]
        let found = try #require(try Self.linked(fields))
        #expect(found.checksum.description == "sha256:\(Self.hexSHA256)" && found.size == 5)
        #expect(found.checksum.field == "X-Linked-Etag")
        #expect(
            try Self.linked(fields.map { ($0.name.lowercased(), $0.value.uppercased()) })?.checksum == found.checksum)
        #expect(try Self.linked(fields, from: "http://hub.example/a") == nil)
        #expect(try Self.linked(fields, to: nil) == nil)
        #expect(try Self.linked([fields[0]]) == nil && Self.linked([fields[1]]) == nil)
        #expect(try Self.linked(fields + [fields[0]]) == nil, "twice")
        #expect(try Self.linked([fields[0], ("X-Linked-Size", "-5")]) == nil)
        // The field is of the file after the redirect, and says nothing about the answer that has it.
        #expect(Self.found(fields).isEmpty)
        for tag in [
            Self.hexSHA256, "W/\"\(Self.hexSHA256)\"", "\"\(Self.hexMD5)\"", "\"\(Self.hexSHA256)00\"",
            "\"\(Self.hexSHA256.prefix(40))\"", "\"\(Self.hexSHA256.dropLast())g\"", "\"\(Self.hexSHA256.dropLast())\"",
            "\"\"",
        ] {
            #expect(try Self.linked([("X-Linked-Etag", tag), fields[1]]) == nil, "\(tag)")
        }
    }

    // MARK: The words

    @Test("The field that stated a digest is known, and does not matter for the comparison")
    func field() throws {
        let head = ResponseHead.of(200, [("X-GOOG-HASH", "md5=\(Self.md5)"), ("Digest", "SHA-256=\(Self.sha256)")])
        let found = ServerDigest.checksums(of: head)
        #expect(found.map(\.field) == ["Digest", "x-goog-hash"])
        #expect(found[1] == Checksum(algorithm: .md5, digest: Self.hexMD5))
        let kept = try JSONDecoder().decode(Checksum.self, from: JSONEncoder().encode(found[1]))
        #expect(kept.field == "x-goog-hash")
        let old = try JSONDecoder().decode(Checksum.self, from: Data(#"{"algorithm":"md5","digest":"00"}"#.utf8))
        #expect(old.field == nil)
    }

    @Test("The standard fields outrank those of services, and trailers have none of the latter")
    func order() {
        let fields: Fields = [("x-goog-hash", "md5=1B2M2Y8AsgTpgAmY7PhCfg=="), ("Content-MD5", Self.md5)]
        #expect(Self.found(fields) == ["md5:\(Self.hexMD5)"])
        let trailers = ResponseHead.of(200, [fields[0]]).fields
        #expect(ServerDigest.checksums(of: .of(200), in: trailers).isEmpty)
        #expect(ServerDigest.checksums(of: .of(200, [fields[0]]), in: [:]).isEmpty)
    }

    @Test("No list and no field of another kind names a CRC")
    func crc() {
        #expect(Checksum(hex: Array("9a71bb4c".utf8)) == nil && Checksum(hex: Array("0001020304050607".utf8)) == nil)
        #expect(Self.found([("Digest", "crc32c=\(Self.crc32c)")]).isEmpty)
        #expect(Self.found([("Repr-Digest", "crc32c=:\(Self.crc32c):")]).isEmpty)
    }
}
