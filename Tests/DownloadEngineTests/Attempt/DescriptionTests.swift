import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Documents that a server names for its file (RFC 6249 section 4.1).
@Suite("Link: rel=describedby", .inTurn, .timeLimit(.minutes(2)))
struct DescriptionTests {
    static let content = Content(seed: 860, size: 300_007)
    static let other = Content(seed: 861, size: content.size)
    static let length: Int64 = 64 << 10
    static let mirrorURL = "http://mirror.example.net/pub/file.bin"
    static let link = "<file.bin.meta4>; rel=describedby; type=\"application/metalink4+xml\""

    /// The digest in base64, as in a header field.
    static let digest = Checksum(algorithm: .sha256, digest: content.sha256).base64

    static func document(
        name: String = "file.bin", size: Int64? = content.size, of content: Content = content, hasDigest: Bool = true,
        hasPieces: Bool = true, urls: [String] = [mirrorURL]
    ) -> String {
        var text = "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"\(name)\">"
        if let size { text += "<size>\(size)</size>" }
        if hasDigest { text += "<hash type=\"sha-256\">\(content.sha256)</hash>" }
        if hasPieces {
            text += "<pieces length=\"\(length)\" type=\"sha-256\">"
            for start in stride(from: 0, to: content.size, by: Int(length)) {
                let piece = Content(content.bytes(start..<min(content.size, start + length)))
                text += "<hash>\(piece.sha256)</hash>"
            }
            text += "</pieces>"
        }
        return text + urls.map { "<url>\($0)</url>" }.joined() + "</file></metalink>"
    }

    /// Returns a transport with one file, its document, and a mirror.
    static func transport(
        _ document: FaultReply, file: FaultReply = FaultReply(content, etag: "\"a\""), mirror: FaultReply? = nil,
        link: String = link
    ) -> FakeTransport {
        FakeTransport { request, _ in
            if request.url.host == "mirror.example.net" {
                return .reply(mirror ?? FaultReply(status: 404))
            }
            return .reply(
                request.url.path.hasSuffix("meta4") ? document : file.with { $0.fields.append(("Link", link)) })
        }
    }

    static func asked(_ transport: FakeTransport) -> [TransferRequest] {
        transport.requests.filter { $0.url.path.hasSuffix("meta4") }
    }

    @Test("The document's mirrors, its digest and its piece digests are used")
    func taken() async throws {
        let bench = try AttemptBench()
        let transport = Self.transport(FaultReply(Content(Self.document())))
        let (outcome, record) = await bench.run(try await bench.record(), on: transport)
        #expect(outcome == .completed)
        #expect(try sha256(of: bench.folder("file.bin")) == Self.content.sha256)
        #expect(record.request.mirrors.map(\.string) == [Self.mirrorURL])
        #expect(record.request.describedBy?.string == "http://example.org/file.bin.meta4")
        #expect(record.request.size == Self.content.size && record.request.pieces?.count == 5)
        #expect(
            record.completed?.verified
                == VerifiedChecksum(Checksum(algorithm: .sha256, digest: Self.content.sha256), by: .server))
        #expect(record.resume.sources?.documentFailure == nil)
        #expect(Self.asked(transport).count == 1)
    }

    @Test(
        "If the server fails, a mirror of the document continues, and must have the same file",
        arguments: [true, false])
    func mirror(isRight: Bool) async throws {
        let bench = try AttemptBench()
        let dying = FaultReply(Self.content, etag: "\"a\"").with { $0.cut = .close(after: 100_000) }
        let transport = Self.transport(
            FaultReply(Content(Self.document())), file: dying,
            mirror: FaultReply(isRight ? Self.content : Self.content.flipping(200_000)))
        let first = try await bench.record {
            $0.connections = 1
            $0.retry.limit = 0
        }
        var (outcome, record) = await bench.run(first, on: transport)
        let error = try #require(outcome.error)
        #expect(record.turn(after: error, repeats: true) == .next)
        (outcome, record) = await bench.run(record, on: transport)
        #expect((outcome == .completed) == isRight, "\(outcome)")
        #expect(bench.folder.exists("file.bin") == isRight)
        #expect(Self.asked(transport).count == 1)
    }

    @Test("A mirror must prove the digest even if the server failed before the first byte")
    func nothingYet() async throws {
        let bench = try AttemptBench()
        let transport = Self.transport(
            FaultReply(Content(Self.document(hasPieces: false))),
            file: FaultReply(Self.content, etag: "\"a\"").with { $0.cut = .close(after: 0) },
            mirror: FaultReply(Self.other, etag: "\"b\""))
        var (outcome, record) = await bench.run(try await bench.record { $0.connections = 1 }, on: transport)
        let error = try #require(outcome.error)
        #expect(record.resume.written.isEmpty && record.turn(after: error, repeats: true) == .next)
        (outcome, record) = await bench.run(record, on: transport)
        #expect(outcome != .completed && !bench.folder.exists("file.bin"))
    }

    @Test("A mirror whose file has changed cannot complete the download with the other file")
    func changedMirror() async throws {
        let bench = try AttemptBench()
        let mirror = try SourceURL.parse(Self.mirrorURL).get().url
        let tag = Validators(etag: EntityTag(opaque: "b"))
        var record = try await bench.record(with: 0..<100_000, of: Self.content, validators: tag)
        record.request.mirrors = [mirror]
        record.resume.digest = Checksum(algorithm: .sha256, digest: Self.content.sha256)
        var book = SourceBook()
        (book.current, book.owner) = (mirror.string, mirror.string)
        record.resume.sources = book
        let transport = Self.transport(FaultReply(), mirror: FaultReply(Self.other, etag: "\"c\""))
        let outcome = await bench.run(record, on: transport).outcome
        #expect(outcome != .completed && !bench.folder.exists("file.bin"), "\(outcome)")
    }

    @Test("A mirror with another file is dropped, and the bytes from the URL stay", arguments: [content.size, 200_000])
    func otherMirror(size: Int64) async throws {
        let bench = try AttemptBench()
        let mirror = try SourceURL.parse(Self.mirrorURL).get().url
        let tag = Validators(etag: EntityTag(opaque: "a"))
        var record = try await bench.record(with: 0..<100_000, of: Self.content, validators: tag)
        record.request.mirrors = [mirror]
        var book = SourceBook()
        book.current = mirror.string
        record.resume.sources = book
        let other = FaultReply(Content(seed: 861, size: size), etag: "\"b\"")
        let (outcome, after) = await bench.run(record, on: Self.transport(FaultReply(), mirror: other))
        guard case .failed(.verificationFailed(.otherMirror), _) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(after.resume.written == ByteRanges([0..<100_000]))
        #expect(after.resume.validators == tag)
    }

    static let uselessDocuments: [(String, FaultReply)] = [
        ("not there", FaultReply(status: 404)), ("for others", FaultReply(status: 403)),
        ("broken", FaultReply(status: 500)), ("no answer", FaultReply().with { $0.cut = .silence }),
        ("cut off", FaultReply(Content(document())).with { $0.cut = .close(after: 50) }),
        ("no XML", FaultReply(Content("<html>"))), ("empty", FaultReply(Content(""))),
        ("another size", FaultReply(Content(document(size: content.size + 1)))),
        ("another file", FaultReply(Content(document(name: "b.bin", size: nil)))),
        ("a document type", FaultReply(Content("<!DOCTYPE x>" + document()))),
        ("for ever", .redirect(to: "/x.meta4")), ("elsewhere", .redirect(to: "file:///etc/passwd")),
        ("too long", FaultReply(Content(seed: 1, size: Int64(Metalink.largest) + 1))),
    ]

    @Test(
        "A document that is missing, unreadable or about another file does not fail the download",
        arguments: uselessDocuments.indices)
    func useless(index: Int) async throws {
        let bench = try AttemptBench()
        let transport = Self.transport(Self.uselessDocuments[index].1)
        let (outcome, record) = await bench.run(try await bench.record(), on: transport)
        #expect(outcome == .completed, "\(outcome)")
        #expect(try sha256(of: bench.folder("file.bin")) == Self.content.sha256)
        #expect(record.resume.sources?.documentFailure?.hasPrefix("http://example.org/file.bin.meta4: ") == true)
        #expect(record.request.describedBy == nil && record.request.mirrors.isEmpty && record.request.pieces == nil)
        #expect(bench.folder.names() == ["file.bin"])
    }

    @Test(
        "Facts about the file from the server or the user outrank a document of another version",
        arguments: ["server", "user"])
    func otherVersion(who: String) async throws {
        let bench = try AttemptBench()
        var file = FaultReply(Self.content, etag: "\"a\"")
        if who == "server" {
            file.fields = [("Repr-Digest", "sha-256=:\(Self.digest):")]
        }
        let transport = Self.transport(FaultReply(Content(Self.document(of: Self.other))), file: file)
        let asked = try await bench.record {
            if who == "user" { $0.checksum = Checksum(algorithm: .sha256, digest: Self.content.sha256) }
        }
        let (outcome, record) = await bench.run(asked, on: transport)
        #expect(outcome == .completed, "\(outcome)")
        #expect(record.resume.sources?.documentFailure?.contains("another version") == true)
        #expect(record.request.mirrors.isEmpty)
    }

    @Test("A file that contradicts the document is not complete", arguments: [true, false])
    func wrong(hasDigest: Bool) async throws {
        let bench = try AttemptBench()
        let text = Self.document(of: Self.other, hasDigest: hasDigest, urls: [])
        let transport = Self.transport(FaultReply(Content(text)))
        let (outcome, _) = await bench.run(try await bench.record(), on: transport)
        guard case .verificationFailed = try #require(outcome.error) else { throw try #require(outcome.error) }
        #expect(!bench.folder.exists("file.bin"))
    }

    @Test(
        "The document is not requested if it is unwanted or for another file, or if only the file's URL has TLS",
        arguments: ["off", "mirrors", "tls", "other"])
    func notAsked(why: String) async throws {
        let bench = try AttemptBench()
        let link = why == "tls" ? Self.link.replacing("file.bin.meta4", with: "http://example.org/a.meta4") : Self.link
        let transport = Self.transport(
            FaultReply(Content(Self.document())), link: why == "other" ? Self.link + "; anchor=\"/b\"" : link)
        let (outcome, record) = await bench.run(
            try await bench.record { request in
                if why == "off" { request.followsMetalink = false }
                if why == "mirrors" { request.mirrors = [request.url] }
                if why == "tls", case .success(let url) = SourceURL.parse("https://example.org/file.bin") {
                    request.url = url.url
                }
            }, on: transport)
        #expect(outcome == .completed)
        #expect(Self.asked(transport).isEmpty && record.request.describedBy == nil)
    }

    @Test("Credentials and fields for the file's server do not go to another server", arguments: [true, false])
    func secrets(isForeign: Bool) async throws {
        let bench = try AttemptBench()
        let link = isForeign ? Self.link.replacing("<", with: "<http://docs.example.com/") : Self.link
        let transport = Self.transport(FaultReply(Content(Self.document())), link: link)
        let (outcome, _) = await bench.run(
            try await bench.record {
                $0.credential = Credential(user: "ann", password: "secret")
                $0.headers = [RequestHeader(name: "X-Api-Key", value: "k")]
            }, on: transport)
        #expect(outcome == .completed)
        let document = try #require(Self.asked(transport).first)
        #expect((document.options.credential == nil) == isForeign)
        #expect((document.options.fields.first { $0.name.rawName == "X-Api-Key" } == nil) == isForeign)
    }

    @Test("A stop does not wait for a document")
    func stopped() async throws {
        let bench = try AttemptBench()
        let transport = Self.transport(FaultReply(Content(Self.document())).with { $0.cut = .stall(after: 0) })
        let record = try await bench.record()
        let control = AttemptControl(record: record)
        async let run = bench.run(record, on: transport, control)
        #expect(await transport.waitForRequests(2))
        control.stop()
        #expect(await run.outcome == .stopped)
    }

    @Test("If the file has changed, the document of the old version is forgotten")
    func changedFile() async throws {
        let bench = try AttemptBench()
        let tag = Validators(etag: EntityTag(opaque: "a"))
        var record = try await bench.record(with: 0..<100_000, of: Self.content, validators: tag)
        record.request.mirrors = [try SourceURL.parse(Self.mirrorURL).get().url]
        record.request.describedBy = try SourceURL.parse("http://example.org/file.bin.meta4").get().url
        record.request.size = Self.content.size
        record.request.pieces = PieceHashes(
            algorithm: .md5, length: Self.content.size, digests: [Self.content.digest("md5")])
        record.resume.digest = Checksum(algorithm: .sha256, digest: Self.content.sha256)
        let new = Content(seed: 862, size: 200_000)
        let transport = FakeTransport(serving: FaultReply(new, etag: "\"b\""))
        let (outcome, after) = await bench.run(record, on: transport)
        #expect(outcome == .completed, "\(outcome)")
        #expect(try sha256(of: bench.folder("file.bin")) == new.sha256)
        #expect(after.request.describedBy == nil && after.request.mirrors.isEmpty && after.request.pieces == nil)
    }

    @Test("A repeated request keeps the document as long as bytes of the file are on disk")
    func kept() async throws {
        let bench = try AttemptBench()
        var record = try await bench.record(with: 0..<10, of: Self.content, validators: Validators())
        var again = record.request
        record.request.mirrors = [record.request.url]
        record.request.describedBy = record.request.url
        again.keepParts(of: record)
        #expect(again.describedBy == record.request.url && again.mirrors == [record.request.url])
        again.forgetDescription()
        record.resume.written = ByteRanges()
        again.keepParts(of: record)
        #expect(again.describedBy == nil && again.mirrors.isEmpty)
    }

    @Test("The right file of a document is chosen by URL, name and size")
    func file() throws {
        func file(_ text: String, _ url: String, _ size: Int64?) throws -> String? {
            try Metalink(Array("<metalink>\(text)</metalink>".utf8), name: "doc")
                .file(at: [try SourceURL.parse(url).get().url], size: size)?.name
        }
        let (a, b) = (
            "<file name='x/a'><size>5</size></file>", "<file name='b'><size>5</size><url>http://h/q</url></file>"
        )
        #expect(try file(a + b, "http://h/q", 5) == "b")
        #expect(try file(a + b, "http://h/q", 6) == nil)
        #expect(try file(a + b, "http://h/a?1", 5) == "x/a")
        #expect(try file(a + b, "http://h/c", 5) == nil)
        #expect(try file(a, "http://h/c", 5) == "x/a")
        #expect(try file(a, "http://h/c", nil) == nil)
        #expect(try file(a, "http://h/a", nil) == "x/a")
        #expect(try file(a + "<file name='y/a'><size>5</size></file>", "http://h/a", 5) == nil)
    }
}

extension AttemptTask.Outcome {
    fileprivate var error: DownloadError? { if case .failed(let error, _) = self { error } else { nil } }
}

extension Checksum {
    fileprivate var base64: String {
        let digits = Array(digest)
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
        return Data(bytes).base64EncodedString()
    }
}
