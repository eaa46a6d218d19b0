import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Downloads from storage services that state digests in fields of their own.
@Suite("Digests of storage services", .inTurn, .timeLimit(.minutes(1)))
struct StorageServiceTests {
    typealias Fields = [(name: String, value: String)]

    /// An answer of a service, with the fields that matter.
    enum Service: CaseIterable {
        case googleComposed, google, azure, s3Tag, s3Checksum

        func fields(_ content: Content) -> Fields {
            let md5 = content.base64Digest("md5")
            return switch self {
            case .googleComposed:
                [
                    ("x-goog-stored-content-encoding", "identity"),
                    ("x-goog-hash", "crc32c=\(content.base64Digest("crc32c"))"),
                ]
            case .google: [("x-goog-hash", "crc32c=\(content.base64Digest("crc32c"))"), ("x-goog-hash", "md5=\(md5)")]
            case .azure: [("x-ms-blob-type", "BlockBlob"), ("x-ms-blob-content-md5", md5)]
            case .s3Tag:
                [
                    ("Server", "AmazonS3"), ("x-amz-request-id", "A"), ("x-amz-id-2", "b"),
                    ("x-amz-server-side-encryption", "AES256"), ("ETag", "\"\(content.digest("md5"))\""),
                ]
            case .s3Checksum:
                [
                    ("x-amz-request-id", "A"), ("x-amz-checksum-type", "FULL_OBJECT"),
                    ("x-amz-checksum-crc64nvme", content.base64Digest("crc64nvme")),
                ]
            }
        }

        /// The algorithm of the digest that is used, and its field.
        var expected: (algorithm: Checksum.Algorithm, field: String) {
            switch self {
            case .googleComposed: (.crc32c, "x-goog-hash")
            case .google: (.md5, "x-goog-hash")
            case .azure: (.md5, "x-ms-blob-content-md5")
            case .s3Tag: (.md5, "ETag")
            case .s3Checksum: (.crc64nvme, "x-amz-checksum-crc64nvme")
            }
        }
    }

    @Test(
        "A right digest verifies the file; a small file still needs no partial file", arguments: Service.allCases,
        [5000, 2_000_000])
    func right(service: Service, size: Int64) async throws {
        let content = Content(seed: 60, size: size)
        let store = GatedStore()
        let bench = try await SessionBench(
            store: store, serving: FaultReply(content).with { $0.fields = service.fields(content) })
        let names = Observed<[String]>([])
        store.change { trouble in
            trouble.beforeSave = { [weak folder = bench.folder] records in
                if let folder, records.contains(where: \.isFinishing) { names.update { $0 += folder.names() } }
            }
        }
        let record = try await bench.ending(of: try await bench.add())
        let (algorithm, field) = service.expected
        let checksum = Checksum(algorithm: algorithm, digest: content.digest(algorithm.rawValue))
        #expect(record.completed?.verified == VerifiedChecksum(checksum, by: .server), "\(record.state)")
        #expect(record.completed?.checksum?.field == field)
        #expect(try bench.holds("file.bin", content))
        #expect(bench.transport.requests.count == 1)
        #expect(Set(names.value) == (size == 5000 ? [] : ["file.bin.part"]))
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test(
        "A wrong digest: status 9 with both values, and no final name", arguments: Service.allCases, [5000, 2_000_000])
    func wrong(service: Service, size: Int64) async throws {
        let (content, other) = (Content(seed: 60, size: size), Content(seed: 61, size: size))
        let bench = try await SessionBench(
            serving: FaultReply(content).with { $0.fields = service.fields(other) })
        let record = try await bench.ending(of: try await bench.add())
        let (algorithm, field) = service.expected
        let (stated, actual) = (other.digest(algorithm.rawValue), content.digest(algorithm.rawValue))
        let failure = try #require(record.failure)
        let expected = Checksum(algorithm: algorithm, digest: stated)
        #expect(failure == .verificationFailed(.serverDigest(expected: expected, actual: actual)))
        #expect(failure.exitStatus == 9)
        #expect(
            "\(failure)".contains("that the server sent in \(field): expected \(expected), got \(actual)"), "\(failure)"
        )
        #expect(!bench.folder.names().contains("file.bin"))
        #expect(record.completed == nil)
    }

    // MARK: The Hub

    /// Returns a session whose download is redirected by the Hub.
    private static func hub(
        _ scheme: String, serving content: Content, stating stated: Content, size: Int64
    ) async throws -> (bench: SessionBench, request: DownloadRequest) {
        let bench = try await SessionBench { request, _ in
            if request.url.host == "cdn.example.net" { return .reply(FaultReply(content, etag: "\"a\"")) }
            return .reply(
                FaultReply.redirect(to: "https://cdn.example.net/ab/file.bin?Signature=1").with {
                    $0.fields += [
                        ("X-Linked-Etag", "\"\(stated.sha256)\""), ("X-Linked-Size", "\(size)"),
                        ("ETag", "\"\(stated.sha256)\""),
                    ]
                })
        }
        let url = try SourceURL.parse("\(scheme)://hub.example.org/m/resolve/main/file.bin").get().url
        return (bench, try bench.request { $0.url = url })
    }

    @Test("The digest in a redirect of the Hub verifies the file", arguments: [5000, 2_000_000], [true, false])
    func linked(size: Int64, isRight: Bool) async throws {
        let (content, other) = (Content(seed: 62, size: size), Content(seed: 63, size: size))
        let (bench, request) = try await Self.hub(
            "https", serving: content, stating: isRight ? content : other, size: size)
        let id = try #require(try await bench.manager.add([request]).first).record.id
        let record = try await bench.ending(of: id)
        if isRight {
            #expect(
                record.completed?.checksum == Checksum(algorithm: .sha256, digest: content.sha256), "\(record.state)")
            #expect(record.completed?.checksum?.field == "X-Linked-Etag" && record.completed?.verifiedBy == .server)
        } else {
            let expected = Checksum(algorithm: .sha256, digest: other.sha256)
            let failure = VerificationFailure.serverDigest(expected: expected, actual: content.sha256)
            #expect(record.failure == .verificationFailed(failure))
        }
        #expect(bench.folder.names().contains("file.bin") == isRight)
    }

    @Test(
        "The digest in a redirect does not count over http, for a file of another size, or against the user's checksum",
        arguments: ["http", "size", "user"])
    func notLinked(why: String) async throws {
        let content = Content(seed: 62, size: 2_000_000)
        let (bench, hubRequest) = try await Self.hub(
            why == "http" ? "http" : "https", serving: content, stating: Content(seed: 63, size: 2_000_000),
            size: why == "size" ? 2_000_001 : 2_000_000)
        var request = hubRequest
        if why == "user" { request.checksum = Checksum(algorithm: .sha256, digest: content.sha256) }
        let id = try #require(try await bench.manager.add([request]).first).record.id
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed)
        #expect(record.completed?.verifiedBy == (why == "user" ? .user : nil))
    }

    // MARK: Mirrors

    @Test(
        "A digest lets mirrors of the answer be used, and a CRC does not", arguments: [Service.google, .googleComposed])
    func mirrors(service: Service) async throws {
        let content = Content(seed: 64, size: 2_000_000)
        let mirror = "http://mirror.example.net/file.bin"
        let bench = try await SessionBench(
            serving: FaultReply(content, etag: "\"a\"").with {
                $0.fields = service.fields(content) + [("Link", "<\(mirror)>; rel=duplicate")]
            })
        let record = try await bench.ending(of: try await bench.add())
        #expect(record.completed?.verifiedBy == .server)
        #expect(record.request.mirrors.map(\.string) == (service == .google ? [mirror] : []))
    }
    @Test(
        "A mirror of the user is asked for parts if a digest proves the file, and not if only a CRC does",
        arguments: [Service.google, .googleComposed])
    func mirrorsOfUser(service: Service) async throws {
        let content = Content(seed: 65, size: 16 << 20)
        let mirror = try SourceURL.parse("http://mirror.example.net/file.bin").get().url
        let bench = try await SessionBench { _, _ in
            .reply(FaultReply(content).with { $0.fields = service.fields(content) })
        }
        let id = try await bench.add {
            $0.mirrors = [mirror]
            $0.connections = 4
        }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.transport.requests.contains { $0.url == mirror } == (service == .google))
    }
}
