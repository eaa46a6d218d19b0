import DownloadTestSupport

/// A row of the table of HTTP/2 faults: the fault of a server in the reply for one file.
struct HTTP2Cell: Sendable, CustomStringConvertible {
    /// The content. dlm would request a file of more than 4 MiB again on a connection of its own.
    static let content = Content(seed: 95, size: 1_000_000)
    static let middle: Int64 = 400_000
    static let good = FaultReply(content, etag: "\"v1\"")
    /// A reply whose end is only shown by the end of the stream.
    static let lengthless = FaultReply(content).with {
        $0.framing = .chunked
        $0.ranges = .ignored
    }

    let description: String
    /// The reply without the fault.
    let healthy: FaultReply
    let broken: FaultReply

    init(_ description: String, _ healthy: FaultReply = good, _ change: (inout FaultReply) -> Void) {
        (self.description, self.healthy, broken) = (description, healthy, healthy.with(change))
    }

    /// Creates a row with frames that no server should send. After them the reply continues.
    private init(
        _ description: String, after: Int64? = nil, frames: @escaping @Sendable (UInt32) -> [HTTP2Frame]
    ) {
        self.init(description) { $0.http2 = HTTP2Fault(after: after, then: .goesOn, frames) }
    }

    /// Whether the fault concerns only the stream of the reply, according to RFC 9113.
    var isOfOneStream: Bool {
        description.hasPrefix("RST_STREAM") || description.hasPrefix("END_STREAM")
            || description.hasPrefix("stream stalls") || description.contains("Content-Length")
    }

    static let all = resets + ends + contradictions + frames + floods

    private static let resets: [HTTP2Cell] = {
        let codes: [HTTP2ErrorCode] = [.noError, .refusedStream, .internalError, .cancel]
        let places: [(String, Int64?)] = [
            ("before the head", nil), ("after the head", 0), ("in the middle", middle), ("at 99 %", 990_000),
            ("after the last byte", content.size),
        ]
        return codes.flatMap { code in
            places.map { place, after in
                HTTP2Cell("RST_STREAM \(code) \(place)") { $0.http2 = .reset(code, after: after) }
            } + [
                HTTP2Cell("RST_STREAM \(code) in a body without length", lengthless) {
                    $0.http2 = .reset(code, after: middle)
                }
            ]
        }
    }()

    private static let ends: [HTTP2Cell] = [("", good), (" of a body without length", lengthless)].flatMap {
        (what, reply) -> [HTTP2Cell] in
        [
            HTTP2Cell("GOAWAY whose last stream is before the stream\(what)", reply) {
                $0.http2 = .goAwayBelow(.noError, after: middle, then: .streamEnds)
            },
            HTTP2Cell("GOAWAY whose last stream is before the stream\(what), then the connection ends", reply) {
                $0.http2 = .goAwayBelow(.enhanceYourCalm, after: middle, then: .connectionEnds)
            },
            HTTP2Cell("graceful GOAWAY in the middle\(what)", reply) { $0.http2 = .goAwayGracefully(after: middle) },
            HTTP2Cell("graceful GOAWAY in the middle\(what), then the connection ends", reply) {
                $0.http2 = .goAwayGracefully(after: middle, then: .connectionEnds)
            },
            HTTP2Cell("connection closed in the middle\(what)", reply) { $0.cut = .close(after: middle) },
            HTTP2Cell("connection closed without close_notify\(what)", reply) {
                ($0.cut, $0.notifiesClose) = (.close(after: middle), false)
            },
            HTTP2Cell("connection closed in a TLS record\(what)", reply) { $0.cut = .halfRecord(after: middle) },
            HTTP2Cell("TLS record with a wrong MAC\(what)", reply) { $0.cut = .corruptRecord(after: middle) },
            HTTP2Cell("connection reset in the middle\(what)", reply) { $0.cut = .reset(after: middle) },
            HTTP2Cell("stream stalls in the middle\(what)", reply) { $0.cut = .stall(after: middle) },
            HTTP2Cell("connection closed before the head\(what)", reply) { $0.cut = .silence },
        ]
    }

    private static let contradictions: [HTTP2Cell] = [
        HTTP2Cell("END_STREAM before Content-Length is reached") { $0.http2 = .endStream(after: middle) },
        HTTP2Cell("END_STREAM one byte early") { $0.framing = .wrongLength(by: 1) },
        HTTP2Cell("one byte beyond Content-Length") { $0.framing = .wrongLength(by: -1) },
        HTTP2Cell("half of the body beyond Content-Length") { $0.framing = .wrongLength(by: -500_000) },
        HTTP2Cell("negative Content-Length", lengthless) { $0.fields.append(("content-length", "-1")) },
        HTTP2Cell("Content-Length twice, different") { $0.fields.append(("content-length", "1000")) },
        HTTP2Cell("Transfer-Encoding: chunked") { $0.fields.append(("transfer-encoding", "chunked")) },
        HTTP2Cell("upper-case and control characters in fields") {
            $0.http2 = HTTP2Fault(after: nil, then: .goesOn) {
                [.headers([(":status", "200"), ("X-Bad", "a\r\nb\u{1b}[31m\u{0}")], stream: $0)]
            }
        },
        HTTP2Cell("head without a status") {
            $0.http2 = HTTP2Fault(after: nil, then: .goesOn) { [.headers([("server", "x")], stream: $0)] }
        },
        HTTP2Cell("status that is no number") {
            $0.http2 = HTTP2Fault(after: nil, then: .goesOn) { [.headers([(":status", "2OO")], stream: $0)] }
        },
        HTTP2Cell("a second head in the middle") {
            $0.http2 = HTTP2Fault(after: middle, then: .goesOn) { [.headers([(":status", "200")], stream: $0)] }
        },
    ]

    private static let frames: [HTTP2Cell] = [
        HTTP2Cell("header block that is no HPACK") {
            [HTTP2Frame(type: 1, flags: 4, stream: $0, payload: [UInt8](repeating: 0xFF, count: 40))]
        },
        HTTP2Cell("PUSH_PROMISE") {
            [HTTP2Frame(type: 5, flags: 4, stream: $0, payload: [0, 0, 0, 2] + HTTP2Frame.field(":status", "200"))]
        },
        HTTP2Cell("DATA longer than the frame size", after: middle) {
            [.data([UInt8](repeating: 7, count: 20_000), stream: $0)]
        },
        HTTP2Cell("DATA that claims 16 MiB", after: middle) {
            [HTTP2Frame(type: 0, stream: $0, payload: [1, 2, 3], claimedLength: 0xFF_FFFF)]
        },
        HTTP2Cell("DATA before the head") { [.data([1, 2, 3], stream: $0)] },
        HTTP2Cell("DATA on stream 0", after: middle) { _ in [.data([1, 2, 3], stream: 0)] },
        HTTP2Cell("DATA on a stream nobody opened", after: middle) { _ in [.data([1, 2, 3], stream: 9999)] },
        HTTP2Cell("WINDOW_UPDATE of three bytes", after: middle) {
            [HTTP2Frame(type: 8, stream: $0, payload: [0, 0, 1])]
        },
        HTTP2Cell("WINDOW_UPDATE of nothing", after: middle) {
            [HTTP2Frame(type: 8, stream: $0, payload: [0, 0, 0, 0])]
        },
        HTTP2Cell("SETTINGS of five bytes", after: middle) { _ in
            [HTTP2Frame(type: 4, payload: [0, 0, 0, 0, 0])]
        },
        HTTP2Cell("padding longer than the frame", after: middle) {
            [HTTP2Frame(type: 0, flags: 8, stream: $0, payload: [200, 1, 2, 3])]
        },
        HTTP2Cell("CONTINUATION after nothing", after: middle) {
            [HTTP2Frame(type: 9, flags: 4, stream: $0, payload: HTTP2Frame.field("a", "b"))]
        },
        HTTP2Cell("frame of an unknown type", after: middle) {
            [HTTP2Frame(type: 0xBE, stream: $0, payload: [UInt8](repeating: 1, count: 1000))]
        },
        HTTP2Cell("HTTP/1.1 in the middle", after: middle) { _ in
            [HTTP2Frame(type: 0x54, payload: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), claimedLength: 0x48_5454)]
        },
    ]

    private static let floods: [HTTP2Cell] = [
        HTTP2Cell("10,000 PING", after: middle) { _ in (0..<10_000).map { .ping(UInt32($0)) } },
        HTTP2Cell("10,000 SETTINGS", after: middle) { _ in (0..<10_000).map { .settings([(3, UInt32(100 + $0 % 2))]) }
        },
        HTTP2Cell("10,000 empty DATA", after: middle) { stream in
            (0..<10_000).map { _ in .data([], stream: stream) }
        },
        HTTP2Cell("1,000 interim heads") { stream in
            (0..<1000).map { _ in .headers([(":status", "103"), ("link", "</x>")], stream: stream) }
        },
        HTTP2Cell("header list of 1 MB") { stream in
            let first = HTTP2Frame(type: 1, stream: stream, payload: HTTP2Frame.field(":status", "200"))
            return [first] + continuations(100, stream)
        },
        HTTP2Cell("header list without end", after: nil) { stream in
            let first = HTTP2Frame(type: 1, stream: stream, payload: HTTP2Frame.field(":status", "200"))
            return [first]
                + continuations(2000, stream).map { frame in
                    HTTP2Frame(type: 9, stream: stream, payload: frame.payload)
                }
        },
    ]

    /// Returns CONTINUATION frames with a field of 10 kB each. The last frame ends the head.
    private static func continuations(_ count: Int, _ stream: UInt32) -> [HTTP2Frame] {
        let value = String(repeating: "x", count: 10_000)
        return (1...count).map {
            HTTP2Frame(
                type: 9, flags: $0 == count ? HTTP2Frame.endHeaders : 0, stream: stream,
                payload: HTTP2Frame.field("x-filler-\($0)", value))
        }
    }
}
