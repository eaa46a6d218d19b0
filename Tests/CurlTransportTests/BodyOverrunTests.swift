import CSystem
import DownloadCore
import DownloadTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import CurlTransport

/// Bytes after the `Content-Length` of a 200: tests of the decision, event by event, and tests with the real libcurl.
@Suite("CurlTransport: bytes beyond the announced length", .inTurn, .timeLimit(.minutes(1)))
struct BodyOverrunTests {
    private static func overrun(
        _ length: Int64?, status: Int = 200, version: String = "1.1", method: HTTPRequest.Method = .get,
        _ fields: HTTPFields = [:]
    ) throws -> BodyOverrun? {
        var fields = fields
        fields[.contentLength] = length.map { "\($0)" }
        var request = TransferRequest(url: try SourceURL.parse("http://127.0.0.1/").get().url)
        request.options.method = method
        return BodyOverrun(ResponseHead(status: status, httpVersion: version, fields: fields), request)
    }

    private func note(_ overrun: inout BodyOverrun, read text: String) {
        Array(text.utf8).withUnsafeBytes { overrun.note(read: $0) }
    }

    @Test("Overruns are looked for in a 200 over HTTP/1 whose body ends with its Content-Length")
    func applies() throws {
        #expect(try Self.overrun(5) != nil)
        #expect(try Self.overrun(5, version: "1.0") != nil)
        #expect(try Self.overrun(5, status: 206) == nil)
        #expect(try Self.overrun(5, status: 304) == nil)
        #expect(try Self.overrun(5, status: 404) == nil)
        #expect(try Self.overrun(5, version: "2") == nil)
        #expect(try Self.overrun(5, method: .head) == nil)
        var own = TransferRequest(url: try SourceURL.parse("http://127.0.0.1/").get().url)
        own.options.unixSocket = "/run/dlm"
        #expect(BodyOverrun(ResponseHead(status: 200, fields: [.contentLength: "5"]), own) == nil)
        #expect(try Self.overrun(nil) == nil)
        #expect(try Self.overrun(5, [.transferEncoding: "chunked"]) == nil)
    }

    @Test(
        "Bytes that libcurl has read beyond the end count as an overrun, unless they are a line break",
        arguments: [
            (["hello"], false), (["hel", "lo"], false), (["hello!"], true), (["hel", "lo!"], true),
            (["hello\r\n"], false), (["hello\n\n"], false), (["hello\r\n<"], true), (["hello\r\n", "x"], true),
        ])
    func read(pieces: [String], isFound: Bool) throws {
        var overrun = try #require(try Self.overrun(5))
        for piece in pieces { note(&overrun, read: piece) }
        #expect(overrun.isFound == isFound)
    }

    @Test("libcurl's message counts only if libcurl did not show the bytes, or if the bytes are not a line break")
    func text() throws {
        let words = Array("Excess found: excess = 2 url = / (zero-length body)".utf8)
        var empty = try #require(try Self.overrun(0))
        words.withUnsafeBytes { empty.note(text: $0) }
        #expect(empty.isFound)
        var ended = try #require(try Self.overrun(5))
        note(&ended, read: "hello\r\n")
        words.withUnsafeBytes { ended.note(text: $0) }
        #expect(!ended.isFound)
        var fine = try #require(try Self.overrun(5))
        Array("Connection #0 left intact".utf8).withUnsafeBytes { fine.note(text: $0) }
        #expect(!fine.isFound)
    }

    @Test(
        "The connection is examined after the last byte of the body, not earlier",
        arguments: [0, 5, 256 << 10] as [Int64])
    func looks(length: Int64) throws {
        var overrun = try #require(try Self.overrun(length))
        if length > 0 {
            overrun.look(behind: length - 1) { Array("x".utf8) }
            #expect(!overrun.isFound)
        }
        overrun.look(behind: length) { [] }
        #expect(!overrun.isFound && !overrun.isOver(behind: length))
        overrun.look(behind: length) { Array("x".utf8) }
        #expect(overrun.isFound && overrun.isOver(behind: length))
    }

    private struct Cell: Sendable {
        let length: Int64
        let body: Int64
        var fields = ""
    }

    /// The server writes the last bytes of the body and the bytes after it at once.
    @Test("An overrun is found on a real connection, kept or closed, and the next transfer is unharmed")
    func transfers() async throws {
        let cells =
            [(5, 6), (5, 5), (0, 0), (0, 3000), (100_000, 100_001), (1_000_000, 1_000_001), (1_000_000, 1_000_000)]
            .flatMap { length, body in
                ["", "Connection: close\r\n"].map { Cell(length: length, body: body, fields: $0) }
            }
        let bench = try TransportBench()
        for cell in cells {
            let content = Content(seed: 5, size: cell.body)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(cell.length)\r\n\(cell.fields)\r\n"
            var script = RawServer.Script(Array(head.utf8) + content.bytes(0..<cell.body))
            script.staysOpen = cell.fields.isEmpty
            if cell.body > cell.length { script.lastWrite = max(0, head.utf8.count + Int(cell.length) - 1000) }
            let server = try RawServer(script)
            for _ in 1...2 {
                let record = try await bench.run(server.url)
                #expect(record.ending == .complete, "\(cell)")
                #expect(record.bytes == content.bytes(0..<cell.length), "\(cell)")
                #expect(record.results.first?.exceedsLength == (cell.body > cell.length), "\(cell)")
            }
        }
    }
}
