import DownloadTestSupport
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Digests that are found beside the file.
@Suite("Proof beside the file", .inTurn, .timeLimit(.minutes(2)))
struct ProofSearchTests {
    static let content = Content(seed: 880, size: ProofPlan.leastSize)
    static let other = Content(seed: 881, size: ProofPlan.leastSize)
    static let folder = "http://example.org/iso/"

    static func list(_ content: Content = content) -> String {
        "\(other.digest("sha256"))  other.bin\n\(content.sha256) *file.bin\n"
    }

    /// Returns a session with one file, and documents by their paths. All other paths are answered with 404.
    static func bench(
        file: FaultReply = FaultReply(content, etag: "\"a\""), _ documents: [String: FaultReply]
    ) async throws -> SessionBench {
        try await SessionBench { request, _ in
            let path = request.url.path
            return .reply(path.hasSuffix(".bin") ? file : documents[path] ?? FaultReply(status: 404))
        }
    }

    static func end(
        _ bench: SessionBench, _ path: String = "/iso/file.bin", _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> DownloadRecord {
        let id = try await bench.add(path) {
            $0.proof = .auto
            change(&$0)
        }
        return try await bench.ending(of: id)
    }

    /// The paths of all requests but those for the file.
    static func asked(_ bench: SessionBench) -> [String] {
        bench.transport.requests.map(\.url.path).filter { !$0.hasSuffix(".bin") }
    }

    @Test("The list of a mirror of Debian proves the file, with two small requests")
    func mirror() async throws {
        let bench = try await Self.bench(["/iso/SHA256SUMS": FaultReply(Content(Self.list()))])
        let record = try await Self.end(bench)
        let checksum = Checksum(algorithm: .sha256, digest: Self.content.sha256)
        #expect(record.completed?.verified == VerifiedChecksum(checksum, by: .server), "\(record.state)")
        #expect(record.completed?.checksum?.field == Self.folder + "SHA256SUMS")
        #expect(ProofStrength(of: record) == .sameServer)
        #expect(try bench.holds("file.bin", Self.content))
        #expect(Self.asked(bench) == ["/iso/file.bin.sha256", "/iso/SHA256SUMS"])
        #expect(bench.transport.requests.allSatisfy { $0.url.path.hasSuffix(".bin") || $0.range == nil })
    }

    @Test("The release on GitHub proves the file, with one small request", arguments: [true, false])
    func release(isRight: Bool) async throws {
        let digest = (isRight ? Self.content : Self.other).sha256
        let release = """
            {"tag_name":"v1","assets":[{"name":"file.bin","size":\(Self.content.size),"digest":"sha256:\(digest)"}]}
            """
        let asset = "https://release-assets.example.net/1/2?sig=3"
        let bench = try await SessionBench { request, _ in
            switch request.url.host {
            case "api.github.com": .reply(FaultReply(Content(release)))
            case "github.com": .reply(.redirect(to: asset))
            default: .reply(FaultReply(Self.content, etag: "\"a\""))
            }
        }
        let url = try SourceURL.parse("https://github.com/o/r/releases/download/v1/file.bin").get().url
        let request = try bench.request { ($0.url, $0.proof) = (url, .auto) }
        let record = try await bench.ending(of: try #require(try await bench.manager.add([request]).first).id)
        #expect((record.state == .completed) == isRight, "\(record.state)")
        #expect(ProofStrength(of: record) == (isRight ? .otherServer : nil))
        let small = bench.transport.requests.filter { $0.url.host == "api.github.com" }
        #expect(small.map(\.url.path) == ["/repos/o/r/releases/tags/v1"])
        #expect(bench.transport.requests.count(where: { $0.url.host == "github.com" }) == 1)
    }

    @Test("A list that contradicts the file: status 9 with both values, and no final name")
    func contradicted() async throws {
        let bench = try await Self.bench(["/iso/SHA256SUMS": FaultReply(Content(Self.list(Self.other)))])
        let record = try await Self.end(bench)
        let failure = try #require(record.failure)
        #expect(failure.exitStatus == 9)
        let text = "in \(Self.folder)SHA256SUMS: expected sha256:\(Self.other.sha256), got \(Self.content.sha256)"
        #expect("\(failure)".contains(text), "\(failure)")
        #expect(bench.folder.names() == ["file.bin.part"])
        // A new start looks the file up again.
        _ = try await bench.manager.resume([record.id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: record.id, times: 2).failure?.exitStatus == 9)
        #expect(Self.asked(bench).count(where: { $0 == "/iso/SHA256SUMS" }) == 2)
    }

    /// Documents that a server may send, and that prove nothing.
    static let useless: [(why: String, reply: FaultReply)] = [
        ("a list on another host", .redirect(to: "http://lists.example.net/iso/SHA256SUMS")),
        ("a list in another folder", .redirect(to: "/old/SHA256SUMS")),
        ("a list of 1 GB", FaultReply(Content(seed: 882, size: 1 << 30))),
        ("a list that ends too early", FaultReply(Content(list())).with { $0.framing = .wrongLength(by: 100) }),
        ("a list that is cut off", FaultReply(Content(list())).with { $0.cut = .close(after: 10) }),
        ("HTML", FaultReply(Content("<html>\n" + list()))),
        ("an error with a list", FaultReply(Content(list())).with { $0.status = 500 }),
        ("no list", FaultReply(status: 404)),
    ]

    @Test(
        "Useless documents: without a proof the file gets its name, unless a proof is required",
        arguments: useless.map(\.why), [ProofPolicy.auto, .require])
    func provesNothing(why: String, proof: ProofPolicy) async throws {
        let reply = try #require(Self.useless.first { $0.why == why }).reply
        let bench = try await Self.bench([
            "/iso/SHA256SUMS": reply, "/old/SHA256SUMS": FaultReply(Content(Self.list())),
        ])
        let record = try await Self.end(bench) { $0.proof = proof }
        #expect(record.completed?.checksum == nil)
        #expect(record.failure == (proof == .require ? .unproved : nil))
        #expect(bench.folder.names() == [proof == .require ? "file.bin.part" : "file.bin"])
        #expect(Self.asked(bench) == ["/iso/file.bin.sha256", "/iso/SHA256SUMS"])
        #expect(record.failure == nil || record.failure?.exitStatus == 9)
    }

    @Test("A document that does not come delays the end by two seconds")
    func stalled() async throws {
        let bench = try await Self.bench(
            ["/iso/file.bin.sha256": FaultReply(Content(Self.list())).with { $0.cut = .stall(after: 1) }])
        let begin = ContinuousClock.now
        let record = try await Self.end(bench)
        #expect(record.state == .completed && record.completed?.checksum == nil)
        #expect(ContinuousClock.now - begin >= .seconds(2))
        #expect(Self.asked(bench) == ["/iso/file.bin.sha256"])
    }

    @Test("Documents that do not exist are remembered for the folder for a day")
    func remembered() async throws {
        let bench = try await Self.bench([:])
        _ = try await Self.end(bench)
        _ = try await Self.end(bench, "/iso/second.bin")
        _ = try await Self.end(bench, "/other/third.bin")
        let learned = try #require(try await bench.store.knowledge(ofFolder: Self.folder))
        let old = FolderKnowledge(missing: learned.missing, learned: learned.learned.addingTimeInterval(-25 * 3600))
        try await bench.store.learn(old, ofFolder: Self.folder)
        _ = try await Self.end(bench, "/iso/fourth.bin")
        #expect(
            Self.asked(bench) == [
                "/iso/file.bin.sha256", "/iso/SHA256SUMS", "/iso/SHA512SUMS", "/iso/second.bin.sha512",
                "/other/third.bin.sha256", "/other/SHA256SUMS", "/iso/fourth.bin.sha256", "/iso/SHA256SUMS",
            ])
    }

    @Test("Nothing is asked beside small files, and if the user wants only the digests of the answer, or none")
    func unasked() async throws {
        for (proof, size) in [(ProofPolicy.auto, 5000), (.headers, 5000), (.headers, 9 << 20), (.off, 9 << 20)] {
            let content = Content(seed: 883, size: Int64(size))
            let bench = try await Self.bench(file: FaultReply(content, etag: "\"a\""), [:])
            #expect(try await Self.end(bench) { $0.proof = proof }.state == .completed)
            #expect(Self.asked(bench).isEmpty, "\(proof) \(size)")
        }
    }

    @Test("With off, a wrong digest of the server is not used", arguments: [5000, 2_000_000])
    func off(size: Int64) async throws {
        let (content, other) = (Content(seed: 884, size: size), Content(seed: 885, size: size))
        let file = FaultReply(content, etag: "\"a\"").with {
            $0.fields = [
                ("Content-MD5", other.base64Digest("md5")),
                ("Repr-Digest", "sha-256=:\(other.base64Digest("sha256")):"),
            ]
        }
        let bench = try await Self.bench(file: file, [:])
        let record = try await Self.end(bench) { $0.proof = .off }
        #expect(record.state == .completed && record.completed?.checksum == nil)
        #expect(
            bench.transport.requests.allSatisfy {
                !$0.options.fields.contains { $0.name.rawName == "Want-Repr-Digest" }
            })
        #expect(try await Self.end(bench, "/iso/second.bin").failure?.exitStatus == 9)
    }

    @Test(
        "A required proof: a digest in the answer or beside the file, and no CRC",
        arguments: ["Content-MD5", "x-goog-hash", "sidecar", "none"], [5000, 2_000_000])
    func required(what: String, size: Int64) async throws {
        let content = Content(seed: 886, size: size)
        let file = FaultReply(content, etag: "\"a\"").with {
            if what == "Content-MD5" { $0.fields = [(what, content.base64Digest("md5"))] }
            if what == "x-goog-hash" { $0.fields = [(what, "crc32c=\(content.base64Digest("crc32c"))")] }
        }
        let sidecar = FaultReply(Content(content.sha256))
        let bench = try await Self.bench(file: file, what == "sidecar" ? ["/iso/file.bin.sha256": sidecar] : [:])
        let record = try await Self.end(bench) { $0.proof = .require }
        let isProved = what == "Content-MD5" || what == "sidecar"
        #expect(record.failure == (isProved ? nil : .unproved), "\(record.state)")
        #expect(bench.folder.names() == [isProved ? "file.bin" : "file.bin.part"])
        #expect(Self.asked(bench).count == (what == "Content-MD5" ? 0 : what == "sidecar" ? 1 : 2))
        if isProved { return }
        // The bytes are kept for a request that needs no proof.
        #expect(
            try await bench.ending(of: try await bench.add("/iso/file.bin") { $0.proof = .headers }, times: 2).state
                == .completed)
        #expect(bench.transport.requests.count(where: { $0.url.path.hasSuffix(".bin") }) == 1)
    }

    @Test("The digest of one version of a file proves no other version: the list is read again")
    func versions() async throws {
        let isSecond = Mutex(false)
        let bench = try await SessionBench { request, _ in
            let (content, tag) = isSecond.withLock { $0 } ? (Self.other, "b") : (Self.content, "a")
            return switch request.url.path {
            case "/iso/file.bin": .reply(FaultReply(content, etag: "\"\(tag)\""))
            case "/iso/file.bin.sha256": .reply(FaultReply(Content(content.sha256)))
            default: .reply(FaultReply(status: 404))
            }
        }
        let first = try await Self.end(bench) { $0.destination.ifExists = .overwrite }
        #expect(first.completed?.checksum?.digest == Self.content.sha256)
        isSecond.withLock { $0 = true }
        let id = try await bench.add("/iso/file.bin") {
            $0.proof = .auto
            $0.destination.ifExists = .overwrite
        }
        let second = try await bench.ending(of: id, times: 2)
        #expect(
            second.state == .completed && second.completed?.checksum?.digest == Self.other.sha256, "\(second.state)")
        #expect(try bench.holds("file.bin", Self.other))
    }

    @Test(
        "A file that came without a proof is no proved file, whatever the rule for a name that is taken",
        arguments: [
            Destination.IfExists.skip, .newer, .overwrite, .fail,
        ])
    func unprovedBefore(rule: Destination.IfExists) async throws {
        let bench = try await Self.bench([:])
        #expect(try await Self.end(bench) { $0.proof = .headers }.state == .completed)
        let id = try await bench.add("/iso/file.bin") {
            $0.proof = .require
            $0.destination.ifExists = rule
        }
        #expect(try await bench.ending(of: id, times: 2).failure != nil)
        #expect(try bench.holds("file.bin", Self.content))
    }
}
