import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore
@testable import DownloadEngine
@testable import DownloadSystem

/// When signatures are looked up again, where redirects may lead, and what a session remembers of keys.
@Suite("The search for signatures", .inTurn, .timeLimit(.minutes(2)))
struct SignatureSearchTests {
    static let path = "/iso/file.bin"
    static let first = FaultReply(SignatureTests.file, etag: "\"a\"")
    static let second = FaultReply(SignatureTests.other, etag: "\"b\"")

    /// Returns a session with a server whose replies a test changes, by their paths.
    static func bench(_ replies: Observed<[String: FaultReply]>) async throws -> SessionBench {
        try await SessionBench { request, _ in .reply(replies.value[request.url.path] ?? FaultReply(status: 404)) }
    }

    /// The conditions in the requests for the file.
    static func conditions(_ bench: SessionBench) -> [String?] {
        bench.transport.requests.filter { $0.url.path == path }.map { $0.options.fields[.ifNoneMatch] }
    }

    @Test(
        "Without a signature the bytes are kept while they are current; a new version is fetched",
        arguments: [FaultReply.RangeBehaviour.honoured, .ignored], [true, false])
    func repeated(ranges: FaultReply.RangeBehaviour, hasNewVersion: Bool) async throws {
        try await SigningKit.with { kit in
            let replies = Observed([Self.path: Self.first.with { $0.ranges = ranges }])
            let bench = try await Self.bench(replies)
            let id = try await bench.add(Self.path) { $0.signedBy = [kit.folder("a.pub")] }
            #expect(try await bench.ending(of: id).failure?.exitStatus == 9)
            _ = try await bench.manager.resume([id], overrides: RequestOverrides())
            let kept = try await bench.ending(of: id, times: 2)
            #expect(kept.failure?.exitStatus == 9 && kept.attempts.last?.received == 0, "\(kept.attempts)")
            #expect(!bench.words(id).contains("restart"))
            #expect(Self.conditions(bench) == [nil, "\"a\""])
            let bytes = hasNewVersion ? SignatureTests.otherBytes : SignatureTests.bytes
            let signature = FaultReply(Content(try await kit.minisign(bytes)))
            replies.update {
                $0[Self.path + ".minisig"] = signature
                if hasNewVersion { $0[Self.path] = Self.second.with { $0.ranges = ranges } }
            }
            _ = try await bench.manager.resume([id], overrides: RequestOverrides())
            let ended = try await bench.ending(of: id, times: 3)
            #expect(ended.state == .completed, "\(ended.state)")
            #expect(try bench.holds("file.bin", hasNewVersion ? SignatureTests.other : SignatureTests.file))
            #expect(bench.words(id).contains("restart") == hasNewVersion)
        }
    }

    @Test(
        "A finished file without a signature keeps its name and is not fetched again; a new version is fetched",
        arguments: [Destination.IfExists.fail, .overwrite, .skip])
    func finished(ifExists: Destination.IfExists) async throws {
        try await SigningKit.with { kit in
            let replies = Observed([Self.path: Self.first])
            let bench = try await Self.bench(replies)
            let key = kit.folder("a.pub")
            let id = try await bench.add(Self.path)
            #expect(try await bench.ending(of: id).state == .completed)
            func again(times: Int) async throws -> DownloadRecord {
                _ = try await bench.add(Self.path) {
                    ($0.signedBy, $0.destination.ifExists) = ([key], ifExists)
                    $0.retry.limit = 0
                }
                return try await bench.ending(of: id, times: times)
            }
            let unsigned = try await again(times: 2)
            #expect("\(unsigned.failure ?? .cancelled)".hasPrefix("no good signature by \(key)"), "\(unsigned.state)")
            #expect(unsigned.failure?.exitStatus == 9 && bench.folder.names() == ["file.bin"])
            #expect(Self.conditions(bench) == [nil, "\"a\""])
            // The server may have the signature later, so its failure is reported, and nothing is fetched.
            replies.update { $0[Self.path + ".minisig"] = FaultReply(status: 500) }
            #expect(try await again(times: 3).failure?.exitStatus == 8 && bench.folder.names() == ["file.bin"])
            #expect(Self.conditions(bench).count == 2)
            guard ifExists == .overwrite else { return }
            let signature = FaultReply(Content(try await kit.minisign(SignatureTests.otherBytes)))
            replies.update { ($0[Self.path], $0[Self.path + ".minisig"]) = (Self.second, signature) }
            #expect(try await again(times: 4).state == .completed)
            #expect(try bench.holds("file.bin", SignatureTests.other))
        }
    }

    @Test("A key file with another key: the earlier signature does not count any more")
    func replacedKey() async throws {
        try await SigningKit.with { kit in
            let signature = FaultReply(Content(try await kit.minisign(SignatureTests.bytes)))
            let bench = try await Self.bench(Observed([Self.path: Self.first, Self.path + ".minisig": signature]))
            let key = kit.folder("key.pub")
            try kit.folder.write(try kit.folder.read("a.pub"), to: "key.pub")
            func add() async throws -> DownloadID { try await bench.add(Self.path) { $0.signedBy = [key] } }
            let id = try await add()
            #expect(try await bench.ending(of: id).state == .completed)
            _ = try await add()
            #expect(try await bench.ending(of: id, times: 2).completed?.wasCurrent == true)
            #expect(bench.transport.requests.count { $0.url.path.hasSuffix(".minisig") } == 1)
            try kit.folder.write(try kit.folder.read("b.pub"), to: "key.pub")
            _ = try await add()
            let ended = try await bench.ending(of: id, times: 3)
            #expect(ended.failure?.exitStatus == 9, "\(ended.state)")
            #expect(ended.resume.signature == nil && bench.folder.names() == ["file.bin"])
        }
    }

    // MARK: Redirects

    static let redirects: [(why: String, file: String, signature: String, isFollowed: Bool)] = [
        ("to the host of the file", "https://assets.example.net/1?t=2", "https://assets.example.net/3?t=4", true),
        ("over the same host", "https://assets.example.net/1?t=2", "/o/r/v1/file.bin.minisig", true),
        ("to a third host", "https://assets.example.net/1?t=2", "https://evil.example.net/3", false),
        ("to another port", "https://assets.example.net/1?t=2", "https://assets.example.net:444/3", false),
        ("without TLS", "https://assets.example.net/1?t=2", "http://assets.example.net/3", false),
        ("of an unredirected file", "", "/o/r/v1/file.bin.minisig", false),
    ]

    @Test("A signature may be redirected to where the file is, and to no other server", arguments: redirects.map(\.why))
    func redirected(why: String) async throws {
        let row = try #require(Self.redirects.first { $0.why == why })
        try await SigningKit.with { kit in
            let signature = Content(try await kit.minisign(SignatureTests.bytes))
            let bench = try await SessionBench { request, _ in
                switch request.url.string {
                case "https://example.org/o/r/file.bin" where !row.file.isEmpty: .reply(.redirect(to: row.file))
                case "https://example.org/o/r/file.bin", row.file: .reply(Self.first)
                case "https://example.org/o/r/file.bin.minisig": .reply(.redirect(to: row.signature))
                case "https://example.org" + row.signature where row.signature == "/o/r/v1/file.bin.minisig":
                    .reply(.redirect(to: row.file.isEmpty ? "/3" : "https://assets.example.net/3"))
                default: .reply(request.url.path.contains("/3") ? FaultReply(signature) : FaultReply(status: 404))
                }
            }
            let url = try SourceURL.parse("https://example.org/o/r/file.bin").get().url
            let request = try bench.request { ($0.url, $0.signedBy) = (url, [kit.folder("a.pub")]) }
            let record = try await bench.ending(of: try #require(try await bench.manager.add([request]).first).id)
            #expect((record.state == .completed) == row.isFollowed, "\(record.state)")
            #expect(row.isFollowed || record.failure?.exitStatus == 9)
            #expect(bench.transport.requests.contains { $0.url.path == "/3" } == row.isFollowed)
        }
    }

    // MARK: Limits

    @Test("The message says that the number of documents ended the search, if it did", arguments: [true, false])
    func limited(isLimited: Bool) async throws {
        try await SigningKit.with { kit in
            let lists = isLimited ? ["SHA256SUMS", "SHA512SUMS", "CHECKSUM", "sha256sum.txt"] : []
            let documents = lists.map { ("/iso/" + $0, FaultReply(Content(SignatureTests.list))) }
            let bench = try await Self.bench(
                Observed([Self.path: Self.first].merging(documents) { one, _ in one }))
            let id = try await bench.add(Self.path) { $0.signedBy = [kit.folder("good")] }
            let failure = try await bench.ending(of: id).failure.map { "\($0)" } ?? ""
            #expect(failure.hasPrefix("no good signature"))
            #expect(failure.hasSuffix("the search ended after 16 documents") == isLimited, "\(failure)")
            #expect(bench.transport.requests.count == (isLimited ? 17 : 10))
        }
    }

    @Test("A signature by another key of minisign is found before the file is hashed")
    func otherKey() async throws {
        try await SigningKit.with { kit in
            let bench = try await Self.bench(Observed([Self.path: Self.first]))
            let id = try await bench.add(Self.path)
            let path = try #require(try await bench.ending(of: id).completed?.path)
            var record = try await bench.record(id)
            record.request.signedBy = [kit.folder("b.pub")]
            let signature = try await kit.minisign(SignatureTests.bytes)
            var check = try SignatureCheck(for: record)
            let queue = DispatchQueue(label: "test")
            let error = await #expect(throws: DownloadError.self) {
                // The file would not be hashed, because its digest is not wanted any more.
                try await check.signature(of: path, on: queue, unless: { true }, judge: { $1(nil) }) {
                    let isKnown = $0.path.hasSuffix(".minisig")
                    return isKnown ? .success(signature) : .failure(.serverRefused(status: 404, phrase: ""))
                }
            }
            #expect("\(error ?? .cancelled)".contains("was made by another key"), "\(error ?? .cancelled)")
        }
    }
}
