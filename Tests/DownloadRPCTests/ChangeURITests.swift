import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadRPC

@Suite("aria2.changeUri", .inTurn, .timeLimit(.minutes(2)))
struct ChangeURITests {
    private static let content = Content(seed: 12, size: 3_000_000)

    private func uris(_ bench: RPCBench, _ gid: JSONValue) async throws -> [String] {
        try #require(try await bench.call("aria2.getUris", gid).result?.values).compactMap { $0.fields?["uri"]?.text }
    }

    @Test("Mirrors are added, deleted and put in order; the first URI is the URL of the download")
    func order() async throws {
        let bench = try await RPCBench()
        let (a, b, c, d) = (
            "http://127.0.0.1:9/a", "http://127.0.0.1:9/b", "http://127.0.0.1:9/c", "http://127.0.0.1:9/d"
        )
        let gid = try #require(
            try await bench.call("aria2.addUri", [.string(a), .string(b)], ["pause": "true"]).result)
        func change(_ deleted: [String], _ added: [String], _ position: Int64? = nil) async throws -> JSONValue? {
            let lists: [JSONValue] = [
                gid, .integer(1), .array(deleted.map { .string($0) }), .array(added.map { .string($0) }),
            ]
            let call: JSONValue = [
                "id": "x", "method": "aria2.changeUri",
                "params": .array([.string("token:\(bench.secret)")] + lists + (position.map { [.integer($0)] } ?? [])),
            ]
            return try await bench.post(String(decoding: call.data, as: UTF8.self)).result
        }
        #expect(try await change([], [c, d]) == [.integer(0), .integer(2)])
        #expect(try await uris(bench, gid) == [a, b, c, d])
        #expect(try await change([b, "http://127.0.0.1:9/unknown"], []) == [.integer(1), .integer(0)])
        #expect(try await uris(bench, gid) == [a, c, d])
        #expect(try await change([a], []) == [.integer(1), .integer(0)])
        #expect(try await uris(bench, gid) == [c, d])
        #expect(try await change([d], [a, b], 0) == [.integer(1), .integer(2)])
        #expect(try await uris(bench, gid) == [a, b, c])
        #expect(try await change([], []) == [.integer(0), .integer(0)])
        #expect(try await change([a, b, c], []) == nil)
        #expect(try await change([], ["file:///etc/passwd"]) == nil)
        #expect(try await change([], [d], -1) == nil)
        #expect(try await uris(bench, gid) == [a, b, c])
        await bench.end()
    }

    @Test("A running download continues with a mirror that was added meanwhile")
    func running() async throws {
        let bench = try await RPCBench()
        let gate = Gate(after: 500_000)
        let first = try FaultServer { _ in FaultReply(Self.content, etag: "\"a\"").with { $0.gate = gate } }
        let second = try FaultServer { _ in FaultReply(Self.content, etag: "\"a\"") }
        defer {
            first.stop()
            second.stop()
        }
        let gid = try #require(
            try await bench.call(
                "aria2.addUri", [.string(first.url())],
                ["split": "2", "checksum": .string("sha-256=\(Self.content.sha256)")]
            ).result)
        _ = try await bench.waitForStatus(gid, "active")
        #expect(
            try await bench.call("aria2.changeUri", gid, .integer(1), [], [.string(second.url())]).result == [
                .integer(0), .integer(1),
            ])
        #expect(
            try await bench.call("aria2.changeUri", gid, .integer(1), [.string(first.url())], []).result == [
                .integer(1), .integer(0),
            ])
        _ = try await bench.waitForStatus(gid, "complete")
        #expect(try sha256(of: bench.folder("downloads/file.bin")) == Self.content.sha256)
        #expect(!second.log.entries.isEmpty)
        gate.open()
        await bench.end()
    }
}
