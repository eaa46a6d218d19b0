import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Downloads from the request to the final name, without any problem.
@Suite("Downloads that complete", .inTurn, .timeLimit(.minutes(2)))
struct CompletionTests {
    @Test(
        "The file is exactly what the server has, whatever its size and framing",
        arguments: [0, 1, 16384, 262_144, 262_145, 3_000_001] as [Int64],
        [FaultReply.Framing.contentLength, .chunked, .closeDelimited])
    func sizes(size: Int64, framing: FaultReply.Framing) async throws {
        let content = Content(seed: 1, size: size)
        let bench = try await SessionBench(
            serving: FaultReply(content, etag: "\"a\"").with { $0.framing = framing })
        // The server refuses a range of an empty file, so nothing proves that zero bytes are the whole file.
        let isUnproven = size == 0 && framing == .closeDelimited
        let id = try await bench.add { $0.acceptsUnverified = isUnproven }
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed)
        #expect(record.completed?.path == bench.folder("file.bin"))
        #expect(record.completed?.bytes == size)
        #expect(try bench.holds("file.bin", content))
        #expect(bench.folder.names() == ["file.bin"])
        #expect(bench.words(id) == ["add", "start 0", "complete"])
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("Several connections fetch the whole file, and almost nothing twice", arguments: [2, 5])
    func connections(count: Int) async throws {
        let content = Content(seed: 2, size: 40_000_000)
        let bench = try await SessionBench(serving: FaultReply(content, etag: "\"a\""))
        let id = try await bench.add { $0.connections = .fixed(count) }
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(try bench.holds("file.bin", content))
        #expect(bench.ranges.first == "0-4194303")
        // A transfer that is cut may have received a few bytes beyond the cut.
        #expect(bench.transport.taken.value <= content.size + content.size / 20)
        #expect(bench.transport.requests.dropFirst().allSatisfy { $0.options.fields[.ifRange] == "\"a\"" })
        let asked = ByteRanges(bench.ranges.map { range($0, size: content.size) })
        #expect(asked == ByteRanges([0..<content.size]))
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test(
        "Without ranges or without a strong validator there is one connection",
        arguments: [
            FaultReply(Content(seed: 3, size: 9_000_000), etag: "\"a\"").with { $0.ranges = .ignored },
            FaultReply(Content(seed: 3, size: 9_000_000), etag: "W/\"a\""),
            FaultReply(Content(seed: 3, size: 9_000_000)),
        ])
    func oneConnection(reply: FaultReply) async throws {
        let bench = try await SessionBench(serving: reply)
        let id = try await bench.add { $0.connections = 4 }
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed)
        #expect(record.attempts.last?.connections == 1)
        #expect(try bench.holds("file.bin", reply.content))
        #expect(await bench.freeBuffers() == BufferPool.standardCapacity)
    }

    @Test("If the server answers with less than requested, the rest is requested", arguments: [1, 3])
    func shortAnswers(connections: Int) async throws {
        let content = Content(seed: 4, size: 12_000_000)
        let bench = try await SessionBench { _, asked in
            .reply(
                FaultReply(content, etag: "\"a\"").with { reply in
                    if case .part(let range) = asked.range(in: content.size), range.count > 3_000_000 {
                        reply.ranges = .wrongEnd(by: 3_000_000 - Int64(range.count))
                    }
                })
        }
        let id = try await bench.add { $0.connections = .fixed(connections) }
        let record = try await bench.ending(of: id)
        #expect(record.state == .completed, "\(record.state)")
        #expect(try bench.holds("file.bin", content))
        #expect(bench.words(id) == ["add", "start 0", "complete"])
        #expect(bench.transport.taken.value <= content.size + content.size / 20)
    }

    /// The amount of the requested part that one answer contains.
    enum Scant: CaseIterable { case nothing, byte, allButByte }

    @Test(
        "Answers with no bytes, one byte, or one byte too few use up the attempts", arguments: Scant.allCases, [1, 4])
    func scantAnswers(scant: Scant, connections: Int) async throws {
        let content = Content(seed: 4, size: 12_000_000)
        let bench = try await SessionBench { _, asked in
            .reply(
                FaultReply(content, etag: "\"a\"").with { reply in
                    guard case .part(let range) = asked.range(in: content.size) else { return }
                    switch scant {
                    case .nothing where range.lowerBound > 0: reply.ranges = .wrongBody(by: -Int64(range.count))
                    case .nothing: reply.ranges = .wrongEnd(by: 1_000_000 - Int64(range.count))
                    case .byte: reply.ranges = .wrongEnd(by: -Int64(range.count))
                    case .allButByte: reply.ranges = .wrongBody(by: -1)
                    }
                    // The body is chunked, so that only its length contradicts the head.
                    if case .wrongBody = reply.ranges { reply.framing = .chunked }
                })
        }
        let id = try await bench.add {
            $0.connections = .fixed(connections)
            $0.retry.limit = 2
        }
        let record = try await bench.ending(of: id)
        #expect(record.failure?.reason == "wrongRange", "\(record.state)")
        // At most four attempts: one with progress and three after it. Each has a probe, a first request of each
        // connection, and three more.
        #expect(bench.transport.requests.count <= 4 * (connections + 1 + 2 + 1), "\(bench.ranges)")
    }

    @Test("A server that refuses ranges is asked for the whole file", arguments: [400, 416, 501])
    func dislikesRanges(status: Int) async throws {
        let content = Content(seed: 5, size: 500_000)
        let bench = try await SessionBench { request, _ in
            .reply(request.range == nil ? FaultReply(content) : FaultReply(status: status))
        }
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).state == .completed)
        #expect(bench.ranges == ["0-", nil])
        #expect(try bench.holds("file.bin", content))
    }

    @Test("A server that also refuses the whole file is given up")
    func neverWhole() async throws {
        let bench = try await SessionBench { _, _ in .reply(FaultReply(status: 400)) }
        let id = try await bench.add()
        #expect(try await bench.ending(of: id).failure?.httpStatus == 400)
        #expect(bench.folder.names().isEmpty)
        #expect(bench.words(id) == ["add", "fail"])
    }

    @Test("The first request asks for the whole file without encoding, with the user's fields")
    func firstRequest() async throws {
        let bench = try await SessionBench(serving: FaultReply(Content("x")))
        let id = try await bench.add("/dir/a%20b.txt?q=1") {
            $0.headers = [
                RequestHeader(name: "X-Purpose", value: "test"), RequestHeader(name: "User-Agent", value: "me"),
            ]
            $0.credential = Credential(user: "u", password: "p")
            $0.timeouts = .init(connect: .seconds(3), stall: .seconds(4))
            $0.trust = .insecure
        }
        #expect(try await bench.ending(of: id).state == .completed)
        let request = try #require(bench.transport.requests.first)
        #expect(request.range == "0-")
        #expect(request.options.fields[.acceptEncoding] == "identity")
        #expect(request.options.fields[.userAgent] == "me")
        #expect(request.options.fields[.ifRange] == nil)
        #expect(request.options.credential?.user == "u")
        #expect(request.options.connectTimeout == 3)
        #expect(request.options.stallTimeout == 4)
        #expect(!request.options.trust.verifiesServer)
        #expect(bench.folder.names() == ["a b.txt"])
    }

    @Test("Redirects are followed; the user's fields and credentials stay with their origin")
    func redirects() async throws {
        let content = Content(seed: 6, size: 1000)
        let bench = try await SessionBench { request, _ in
            switch request.url.string {
            case "http://example.org/file.bin": .reply(.redirect(to: "/second"))
            case "http://example.org/second": .reply(.redirect(to: "http://other.example/third.bin", status: 307))
            default: .reply(FaultReply(content))
            }
        }
        let id = try await bench.add {
            $0.headers = [RequestHeader(name: "X-Key", value: "secret")]
            $0.credential = Credential(user: "u", password: "p")
        }
        let record = try await bench.ending(of: id)
        #expect(record.completed?.path == bench.folder("third.bin"))
        #expect(record.resume.finalURL?.string == "http://other.example/third.bin")
        #expect(record.attempts.last?.redirects == 2)
        let name = try #require(HTTPField.Name("X-Key"))
        #expect(bench.transport.requests.map { $0.options.fields[name] } == ["secret", "secret", nil])
        #expect(bench.transport.requests.map { $0.options.credential?.user } == ["u", "u", nil])
    }

    @Test("A right checksum completes a download; a wrong one fails it and keeps the bytes", arguments: [1, 3])
    func checksum(connections: Int) async throws {
        let content = Content(seed: 7, size: 9_000_000)
        let bench = try await SessionBench(serving: FaultReply(content, etag: "\"a\""))
        let right = Checksum(algorithm: .sha256, digest: content.sha256)
        let good = try await bench.add("/good") {
            $0.checksum = right
            $0.connections = .fixed(connections)
        }
        #expect(try await bench.ending(of: good).completed?.checksum == right)
        let wrong = Checksum(algorithm: .sha256, digest: String(repeating: "0", count: 64))
        let bad = try await bench.add("/bad") { $0.checksum = wrong }
        let record = try await bench.ending(of: bad)
        #expect(
            record.state == .failed(.verificationFailed(.checksum(expected: wrong, actual: content.sha256))))
        #expect(bench.folder.names() == ["bad.part", "good"])
        #expect(record.resume.mismatched == wrong)

        // The same request again begins anew. A request with the right checksum would accept the bytes on disk.
        _ = try await bench.manager.resume([bad], overrides: RequestOverrides())
        _ = try await bench.ending(of: bad, times: 2)
        #expect(bench.words(bad) == ["add", "start 0", "fail", "resume", "restart", "start 0", "fail"])
    }

    @Test("An attempt is recorded with its size, its end and its outcome")
    func attempts() async throws {
        let content = Content(seed: 8, size: 100_000)
        let bench = try await SessionBench(serving: FaultReply(content))
        let id = try await bench.add()
        let attempt = try #require(try await bench.ending(of: id).attempts.last)
        #expect(attempt.received == content.size)
        #expect(attempt.outcome == "completed")
        #expect(attempt.ended != nil)
        #expect(attempt.metrics?.received == content.size)
    }

    /// Returns the requested range. A text without an end means the rest of the file.
    private func range(_ text: String?, size: Int64) -> Range<Int64> {
        let ends = (text ?? "").split(separator: "-").compactMap { Int64($0) }
        return ends.isEmpty ? 0..<0 : ends[0]..<(ends.count == 2 ? ends[1] + 1 : size)
    }
}
