import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn) struct ResumeDataTests {
    @Test(
        "Written bytes count on the same boot; on another boot only durable bytes count",
        arguments: [("a", "a", true), ("a", "b", false), ("a", nil, false), (nil, "a", false), (nil, nil, false)]
            as [(String?, String?, Bool)])
    func trusted(_ stored: String?, _ current: String?, _ trustsWritten: Bool) {
        var data = ResumeData()
        data.written = ByteRanges([0..<100])
        data.durable = ByteRanges([0..<64])
        data.bootID = stored
        #expect(data.trusted(bootID: current) == (trustsWritten ? data.written : data.durable))
    }

    @Test(
        "If-Range is the strong ETag, or the strong date if there is no ETag, or nothing",
        arguments: [
            (Validators(), nil),
            (Validators(etag: EntityTag(opaque: "a")), "\"a\""),
            (Validators(etag: EntityTag(opaque: "a"), lastModified: "d", lastModifiedIsStrong: true), "\"a\""),
            (Validators(etag: EntityTag(opaque: "a", isWeak: true)), nil),
            (
                Validators(etag: EntityTag(opaque: "a", isWeak: true), lastModified: "d", lastModifiedIsStrong: true),
                nil
            ),
            (Validators(lastModified: "d", lastModifiedIsStrong: true), "d"),
            (Validators(lastModified: "d"), nil),
            (Validators(lastModifiedIsStrong: true), nil),
        ] as [(Validators, String?)])
    func ifRange(_ validators: Validators, _ expected: String?) {
        #expect(validators.ifRange == expected)
        #expect(validators.isEmpty == (validators.etag == nil && validators.lastModified == nil))
    }

    @Test("Resume data survives encoding")
    func codable() throws {
        var data = ResumeData()
        #expect(try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(data)) == data)
        data.validators = Validators(
            etag: EntityTag(opaque: "a", isWeak: true), lastModified: "d", lastModifiedIsStrong: true)
        data.total = .max
        data.finalURL = try SourceURL.parse("https://h/ü").get().url
        data.contentType = "a/b"
        data.acceptsRanges = true
        data.written = ByteRanges([0..<9, 10..<12])
        data.durable = ByteRanges([0..<9])
        data.file = FileIdentity(inode: .max, born: 1_700_000_000_000_000_001)
        data.bootID = "b"
        data.digest = Checksum(algorithm: .md5, digest: "00")
        data.mismatched = Checksum(algorithm: .md5, digest: "01")
        data.verified = VerifiedChecksum(Checksum(algorithm: .md5, digest: "02"), by: .server)
        data.servedName = "name"
        #expect(try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(data)) == data)
    }
}
