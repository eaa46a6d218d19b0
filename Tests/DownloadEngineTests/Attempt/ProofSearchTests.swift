import DownloadTestSupport
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine
@testable import DownloadSystem

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
        file: FaultReply = FaultReply(content, etag: "\"a\""), time: any TimeSource = SystemTime(),
        _ documents: [String: FaultReply]
    ) async throws -> SessionBench {
        try await SessionBench(time: time) { request, _ in
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

    @Test("The list of a mirror of Debian proves the file, with one small request")
    func mirror() async throws {
        let bench = try await Self.bench(["/iso/SHA256SUMS": FaultReply(Content(Self.list()))])
        let record = try await Self.end(bench)
        let checksum = Checksum(algorithm: .sha256, digest: Self.content.sha256)
        #expect(record.completed?.verified == VerifiedChecksum(checksum, by: .server), "\(record.state)")
        #expect(record.completed?.checksum?.field == Self.folder + "SHA256SUMS")
        #expect(ProofStrength(of: record) == .sameServer)
        #expect(try bench.holds("file.bin", Self.content))
        #expect(Self.asked(bench) == ["/iso/SHA256SUMS"] && bench.transport.requests[0].url.path == "/iso/file.bin")
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
        // A contradiction is looked at twice.
        #expect(small.map(\.url.path) == Array(repeating: "/repos/o/r/releases/tags/v1", count: isRight ? 1 : 2))
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
        #expect(Self.asked(bench).count == 2)
        // A new start compares the file again with the list, and asks for the list only because of the contradiction.
        _ = try await bench.manager.resume([record.id], overrides: RequestOverrides())
        #expect(try await bench.ending(of: record.id, times: 2).failure?.exitStatus == 9)
        #expect(Self.asked(bench) == Array(repeating: "/iso/SHA256SUMS", count: 3))
    }

    /// Documents that a server may send, and that prove nothing.
    static let useless: [(why: String, reply: FaultReply, isLast: Bool)] = [
        ("a list on another host", .redirect(to: "http://lists.example.net/iso/SHA256SUMS"), false),
        ("a list in another folder", .redirect(to: "/old/SHA256SUMS"), false),
        ("a list of 1 GB", FaultReply(Content(seed: 882, size: 1 << 30)), false),
        ("a list that ends too early", FaultReply(Content(list())).with { $0.framing = .wrongLength(by: 100) }, true),
        ("a list that is cut off", FaultReply(Content(list())).with { $0.cut = .close(after: 10) }, true),
        ("HTML", FaultReply(Content("<html>\n" + list())), false),
        ("an error with a list", FaultReply(Content(list())).with { $0.status = 500 }, true),
        ("too many requests", FaultReply(status: 429), true), ("no list", FaultReply(status: 404), false),
    ]

    @Test(
        "Useless documents: without a proof the file gets its name, unless a proof is required",
        arguments: useless.map(\.why), [ProofPolicy.auto, .require])
    func provesNothing(why: String, proof: ProofPolicy) async throws {
        let (_, reply, isLast) = try #require(Self.useless.first { $0.why == why })
        let bench = try await Self.bench([
            "/iso/SHA256SUMS": reply, "/old/SHA256SUMS": FaultReply(Content(Self.list())),
        ])
        let record = try await Self.end(bench) { $0.proof = proof }
        #expect(record.completed?.checksum == nil)
        #expect(record.failure == (proof == .require ? .unproved : nil))
        #expect(bench.folder.names() == [proof == .require ? "file.bin.part" : "file.bin"])
        #expect(Self.asked(bench).count == (isLast ? 1 : proof == .require ? 8 : 2), "\(Self.asked(bench))")
        #expect(record.failure == nil || record.failure?.exitStatus == 9)
        // A server that refuses or fails is not asked again, also not for another folder.
        if isLast, proof == .auto {
            #expect(try await Self.end(bench, "/other/second.bin").state == .completed)
            #expect(Self.asked(bench) == ["/iso/SHA256SUMS"])
            #expect(try await bench.store.knowledge(of: "http://example.org/other/") as FolderKnowledge? == nil)
        }
    }

    // MARK: Documents that files share

    static let small = Content(seed: 887, size: 5000)

    @Test("50 files of a folder ask for its list once, and wait for nothing but the answer")
    func manyWithList() async throws {
        let names = (0..<50).map { "\($0).bin" }
        let list = names.map { "\(Self.small.sha256)  \($0)\n" }.joined()
        let bench = try await Self.bench(
            file: FaultReply(Self.small), time: ManualTime(), ["/iso/SHA256SUMS": FaultReply(Content(list))])
        let requests = try names.map { try bench.request("/iso/\($0)") { $0.proof = .require } }
        for added in try await bench.manager.add(requests) {
            let record = try await bench.ending(of: added.record.id)
            #expect(record.completed?.checksum?.field == Self.folder + "SHA256SUMS", "\(record.state)")
        }
        #expect(Self.asked(bench) == ["/iso/SHA256SUMS"])
    }

    @Test(
        "Files of a folder without a list ask for a document each, or for nothing any more", arguments: [true, false])
    func manyWithoutList(haveSidecars: Bool) async throws {
        let bench = try await SessionBench(time: ManualTime()) { request, _ in
            let path = request.url.path
            if path.hasSuffix(".bin") { return .reply(FaultReply(Self.content, etag: "\"a\"")) }
            let isThere = haveSidecars && path.hasSuffix(".bin.sha256")
            return .reply(isThere ? FaultReply(Content(Self.content.sha256)) : FaultReply(status: 404))
        }
        let requests = try (0..<8).map { try bench.request("/iso/\($0).bin") { $0.proof = .auto } }
        for added in try await bench.manager.add(requests) {
            let record = try await bench.ending(of: added.record.id)
            #expect(record.state == .completed && (record.completed?.checksum != nil) == haveSidecars)
        }
        let asked = Self.asked(bench).sorted()
        let sidecars = (0..<8).map { "/iso/\($0).bin.sha256" }
        #expect(haveSidecars ? asked == sidecars + ["/iso/SHA256SUMS"] : asked.count <= 8, "\(asked)")
    }

    // MARK: Lists of another version

    static let (before, after) = ("Mon, 06 Jan 2025 10:00:00 GMT", "Tue, 07 Jan 2025 10:00:00 GMT")

    @Test(
        "A list that is older than the file and contradicts it is about another version; without a time, it counts",
        arguments: [after, before, nil], [ProofPolicy.auto, .require])
    func stale(file: String?, proof: ProofPolicy) async throws {
        let bench = try await Self.bench(
            file: FaultReply(Self.content, etag: "\"a\"", lastModified: file),
            ["/iso/SHA256SUMS": FaultReply(Content(Self.list(Self.other)), lastModified: Self.before)])
        let record = try await Self.end(bench) { $0.proof = proof }
        #expect(Self.asked(bench) == ["/iso/SHA256SUMS", "/iso/SHA256SUMS"])
        if file == Self.after {
            #expect(record.failure == (proof == .require ? .unproved : nil), "\(record.state)")
            #expect(record.completed?.checksum == nil)
            #expect(record.resume.proof?.stale == Self.folder + "SHA256SUMS")
        } else {
            let expected = Checksum(algorithm: .sha256, digest: Self.other.sha256)
            let failure = VerificationFailure.serverDigest(expected: expected, actual: Self.content.sha256)
            #expect(record.failure == .verificationFailed(failure))
        }
    }

    @Test("A contradiction is looked at once more, past the caches; an answer without a digest does not remove it")
    func again() async throws {
        for (answer, isRight) in [(Self.list(), true), (Self.list(Self.other), false), ("", false)] {
            // The clock stands still, so only the answers end the waits.
            let bench = try await SessionBench(time: ManualTime()) { request, asked in
                if request.url.path.hasSuffix(".bin") { return .reply(FaultReply(Self.content, etag: "\"a\"")) }
                let isSecond = asked["Cache-Control"] == "no-cache"
                return .reply(FaultReply(Content(isSecond ? answer : Self.list(Self.other))))
            }
            let record = try await Self.end(bench)
            #expect((record.completed?.checksum?.digest == Self.content.sha256) == isRight, "\(record.state)")
            #expect((record.failure?.exitStatus == 9) == !isRight)
            #expect(Self.asked(bench) == ["/iso/SHA256SUMS", "/iso/SHA256SUMS"])
        }
    }

    // MARK: Time

    /// A list of which only the first byte comes.
    static let stalledList = ["/iso/SHA256SUMS": FaultReply(Content(list())).with { $0.cut = .stall(after: 1) }]

    @Test("A silent server delays the end of a file by two seconds, once in a session")
    func stalled() async throws {
        let time = ManualTime()
        let bench = try await Self.bench(time: time, Self.stalledList)
        let id = try await bench.add("/iso/file.bin") { $0.proof = .auto }
        #expect(await bench.transport.waitForRequests(2))
        #expect(await time.sleeper(until: time.now + .seconds(2)))
        time.advance(by: .milliseconds(1900))
        #expect(try await bench.record(id).state == .running)
        time.advance(by: .milliseconds(100))
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed && record.completed?.checksum == nil)
        // The clock stands still, so the other files do not wait.
        #expect(try await Self.end(bench, "/iso/second.bin").state == .completed)
        #expect(try await Self.end(bench, "/other/third.bin").state == .completed)
        #expect(Self.asked(bench) == ["/iso/SHA256SUMS"])
    }

    @Test("The wait for a document does not make a file late, unless a proof is required")
    func late() async throws {
        for proof in [ProofPolicy.auto, .require] {
            let time = ManualTime()
            let bench = try await Self.bench(time: time, Self.stalledList)
            let id = try await bench.add("/iso/file.bin") {
                $0.proof = proof
                $0.timeouts.total = .seconds(1)
            }
            if proof == .auto { #expect(await time.sleeper(until: time.now + .seconds(2))) }
            time.advance(by: .seconds(1))
            let record = try await bench.ending(of: id)
            #expect((record.state == .completed) == (proof == .auto), "\(record.state)")
        }
    }

    @Test("A server gets one request for a document at a time, and none after one that it does not answer")
    func turns() async throws {
        let time = ManualTime()
        let transport = FakeTransport { _, _ in .reply(FaultReply(Content("x")).with { $0.cut = .stall(after: 0) }) }
        var parts = SessionParts(
            store: GatedStore(), identifier: "own", version: "test",
            resources: SessionResources(start: { transport }, end: {}))
        parts.time = time
        let documents = ProofDocuments(parts, transport, userAgent: "dlm/test")
        let urls = try ["http://a/1", "http://a/2", "http://b/3"].map { try SourceURL($0) }
        let request = DownloadRequest(url: urls[0], destination: Destination(folder: "/"))
        async let first = documents.document(urls[0], like: request, redirectedTo: nil, fresh: false)
        #expect(await transport.waitForRequests(1))
        async let second = documents.document(urls[1], like: request, redirectedTo: nil, fresh: false)
        async let third = documents.document(urls[2], like: request, redirectedTo: nil, fresh: false)
        #expect(await transport.waitForRequests(2))
        #expect(transport.requests.map(\.url) == [urls[0], urls[2]])
        #expect(await time.sleepers(atLeast: 4))
        time.advance(by: ProofPlan.timeLimit)
        for answer in [await first, await second, await third] {
            #expect(throws: DownloadError.self) { try answer.get() }
        }
        #expect(transport.requests.count == 2)
        #expect(await documents.isSilent(urls[0].origin))
    }

    @Test("Documents that do not exist are remembered for the folder for a day")
    func remembered() async throws {
        let bench = try await Self.bench([:])
        _ = try await Self.end(bench)
        _ = try await Self.end(bench, "/iso/second.bin")
        _ = try await Self.end(bench, "/other/third.bin")
        let learned: FolderKnowledge = try #require(try await bench.store.knowledge(of: Self.folder))
        let old = FolderKnowledge(missing: learned.missing, learned: learned.learned.addingTimeInterval(-25 * 3600))
        try await bench.store.learn(of: Self.folder) { _ in old }
        _ = try await Self.end(bench, "/iso/fourth.bin")
        #expect(
            Self.asked(bench) == [
                "/iso/SHA256SUMS", "/iso/file.bin.sha256", "/iso/SHA512SUMS", "/iso/second.bin.sha512",
                "/other/SHA256SUMS", "/other/third.bin.sha256",
                // This session still knows that the folder has no SHA256SUMS.
                "/iso/fourth.bin.sha256",
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
        #expect(Self.asked(bench).count == (what == "Content-MD5" ? 0 : what == "sidecar" ? 2 : 8))
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
