import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of heads", .serialized, .timeLimit(.minutes(10)))
    struct HeadFaultTests {
        private static func raw(_ name: String, _ text: String, endless unit: String = "") -> HTTPFault {
            HTTPFault(name, fresh: .fails([7]), raw: FaultReply.Raw(text, endless: unit))
        }

        static let ok = "HTTP/1.1 200 OK\r\n"

        static let garbage: [HTTPFault] = [
            raw("status line is garbage", "garbage\r\n\r\n"),
            raw("HTTP/0.9: a body and no head", "<html>hello</html>"),
            HTTPFault(
                "binary garbage", fresh: .fails([7]), raw: FaultReply.Raw((0..<4096).map { UInt8($0 * 7 & 0xFF) })),
            raw("status line of another protocol", "ICY 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            raw("status line of SSH", "SSH-2.0-OpenSSH_9.2\r\n"),
            raw("status without digits", "HTTP/1.1 abc OK\r\nContent-Length: 5\r\n\r\nhello"),
            raw("status of four digits", "HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\nhello"),
            raw("status of two digits", "HTTP/1.1 20 OK\r\nContent-Length: 5\r\n\r\nhello"),
            raw("status 999", "HTTP/1.1 999 Odd\r\nContent-Length: 5\r\n\r\nhello").with { $0.fresh = .fails([8]) },
            raw("status 000", "HTTP/1.1 000 Odd\r\nContent-Length: 5\r\n\r\nhello"),
            raw("version HTTP/9.9", "HTTP/9.9 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            raw("head cut off", ok + "Content-Length: 5\r\nETag: \"v").with { $0.fresh = .fails([4]) },
            raw("only a line break", "\r\n").with { $0.fresh = .fails([4, 7]) },
            raw("NUL in a field", ok + "X-A: a\0b\r\nContent-Length: 5\r\n\r\nhello"),
            raw("NUL in the status line", "HTTP/1.1 200 O\0K\r\nContent-Length: 5\r\n\r\nhello"),
            raw("a field without a colon", ok + "nonsense\r\nContent-Length: 5\r\n\r\nhello"),
            raw("first field line folded", ok + " X-A: b\r\nContent-Length: 5\r\n\r\nhello"),
            raw("first field line folded by a tab", ok + "\tX-A: b\r\nContent-Length: 5\r\n\r\nhello"),
            raw("fields folded over lines", ok + "Content-Length:\r\n 5\r\n\r\nhello"),
        ]

        static let endless: [HTTPFault] = [
            raw("status line without an end", "HTTP/1.1 200 ", endless: "OK"),
            raw("a field without an end", ok + "X-A: ", endless: "a"),
            raw("fields without an end", ok, endless: "X-A: a\r\n"),
            raw("NUL bytes without an end", "", endless: "\0"),
            raw("lines without an end", "", endless: "hello\r\n"),
            raw("interim answers without an end", "", endless: "HTTP/1.1 100 Continue\r\n\r\n"),
            raw("early hints without an end", "", endless: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
            raw(
                "fields after the last chunk without an end",
                ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", endless: "X-A: a\r\n"
            )
            // The answer has no validators. If there is a partial file, the answer is refused as soon as its head
            // arrives.
            .with { $0.later = .fails([9]) },
        ]

        static let large: [HTTPFault] = [
            HTTPFault("a field of 1 MiB", fresh: .fails([7])) {
                $0.fields.append(("X-A", String(repeating: "a", count: 1 << 20)))
            },
            HTTPFault("fields of 1 MiB", fresh: .fails([7])) {
                $0.fields += (0..<16384).map { ("X-\($0)", String(repeating: "a", count: 60)) }
            },
            HTTPFault("fields of 60 KiB") {
                $0.fields += (0..<1000).map { ("X-\($0)", String(repeating: "a", count: 50)) }
            },
            HTTPFault("20 interim answers before the answer") {
                $0.preamble = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 20)
            },
        ]

        static let escape = "\u{1B}[31m\u{1B}]0;owned\u{7}\u{9B}2J\u{202E}"

        static let sequences: [HTTPFault] = [
            HTTPFault("escape sequences in the reason phrase") { $0.phrase = escape },
            HTTPFault("escape sequences in the reason phrase of 404", fresh: .fails([8])) { _, _ in
                FaultReply(status: 404).with { $0.phrase = escape }
            },
            HTTPFault("escape sequences in Location", fresh: .fails([7])) { _, _ in
                .redirect(to: "gopher://\(escape)/")
            },
            HTTPFault("escape sequences in Content-Range", fresh: .right) {
                $0.ranges = .contentRange("bytes \(escape)")
            },
            HTTPFault("escape sequences in Content-Length", fresh: .fails([7])) {
                $0.ranges = .ignored
                $0.framing = .lengths(["1\(escape)", "2\(escape)"])
            },
            HTTPFault("escape sequences in ETag and Last-Modified", fresh: .right, later: .either([9])) {
                $0.etag = "\"\(escape)\""
                $0.lastModified = escape
            },
            HTTPFault("bytes that are no UTF-8", fresh: .fails([8])) {
                $0.raw = FaultReply.Raw(
                    Array("HTTP/1.1 404 ".utf8) + [0xFF, 0xFE, 0x9B, 0x80] + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
                )
            },
        ]

        @Test("Malformed heads are an error, and the next command gives the right file")
        func garbage() async throws { try await HTTPFaultCell.run(FaultTrial.short(Self.garbage, each: 3)) }

        @Test("Heads without an end are an error, and the next command gives the right file")
        func endless() async throws { try await HTTPFaultCell.run(FaultTrial.short(Self.endless, each: 2), atMost: 4) }

        @Test("Heads of 1 MiB are an error, and heads of 60 KiB are accepted")
        func large() async throws { try await HTTPFaultCell.run(Self.large) }

        @Test("Escape sequences in heads are not printed")
        func sequences() async throws { try await HTTPFaultCell.run(Self.sequences) }
    }
}
