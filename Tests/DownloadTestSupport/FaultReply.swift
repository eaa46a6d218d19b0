/// How a server answers one request: a well-behaved file server unless the fields say otherwise.
package struct FaultReply: Sendable {
    package var status = 200
    /// Fields besides those that follow from the rest.
    package var fields: [(name: String, value: String)] = []
    /// More lines of the head, in bytes as they go over the wire.
    package var lines: [[UInt8]] = []
    /// Of the status line; nil for the usual one.
    package var phrase: String?
    package var content: Content
    /// The field value, with its quotes and `W/`.
    package var etag: String?
    package var lastModified: String?
    package var ranges = RangeBehaviour.honoured
    /// Answers `If-None-Match` and `If-Modified-Since` with 304 where they hold.
    package var honoursConditions = true
    package var framing = Framing.contentLength
    package var cut: Cut?
    /// Ends a connection over TLS with close_notify, as it should (RFC 8446 section 6.1).
    package var notifiesClose = true
    /// Besides the cut, for a reply over HTTP/2.
    package var http2: HTTP2Fault?
    /// For this reply alone.
    package var bytesPerSecond: Int?
    /// The first bytes of the body come so much slower.
    package var trickle: Trickle?
    /// Sent before the status line: interim answers, say.
    package var preamble = ""
    /// The body stands still at some byte until the test opens it.
    package var gate: Gate?
    /// Put between two chunks, once so many bytes of the body, at least one, have been sent.
    package var chunkInsertion: (after: Int64, text: String)?
    /// The first chunk behind so many bytes of the body says that it is so much longer (shorter when negative).
    package var chunkSizeError: (after: Int64, by: Int)?
    /// What ends a chunked body.
    package var lastChunk = "0\r\n\r\n"
    /// Goes over the wire instead of all that the rest says.
    package var raw: Raw?

    package init(_ content: Content = .empty, etag: String? = nil, lastModified: String? = nil) {
        self.content = content
        self.etag = etag
        self.lastModified = lastModified
    }

    /// A status other than 2xx, with a small page as its body.
    package init(status: Int, fields: [(name: String, value: String)] = []) {
        self.init(Content("<html><body>status \(status)</body></html>\n"))
        self.status = status
        self.fields = fields
        ranges = .ignored
    }

    package static func redirect(to location: String, status: Int = 302) -> FaultReply {
        FaultReply(status: status, fields: [("Location", location)])
    }

    /// What becomes of a `Range` field.
    package enum RangeBehaviour: Sendable, Equatable {
        /// 206 as RFC 9110 says, `If-Range` included.
        case honoured
        /// 206 even when `If-Range` names another version.
        case honouredBlindly
        /// 200 with the whole file.
        case ignored
        /// 206 with the right bytes and no `Content-Range`.
        case withoutContentRange
        /// 206 whose bytes and `Content-Range` begin so much later than asked.
        case wrongStart(by: Int64)
        /// 206 with the right `Content-Range` and the bytes of so much later.
        case wrongBytes(by: Int64)
        /// 206 that ends so much later than asked (sooner when negative).
        case wrongEnd(by: Int64)
        /// 206 with a total that is so much larger.
        case wrongTotal(by: Int64)
        /// 206 with the right bytes and this `Content-Range`.
        case contentRange(String)
        /// 206 with `*` for the total.
        case withoutTotal
        /// 206 whose body is so much longer than its `Content-Range` (shorter when negative).
        case wrongBody(by: Int64)
        /// 206 with `multipart/byteranges`.
        case multipart
        /// 416 for every range.
        case refused
        /// 416 for every range, with this `Content-Range` or none.
        case refusedNaming(String?)
    }

    package enum Framing: Sendable, Equatable {
        case contentLength
        case chunked
        /// No length: the end of the connection is the end of the body.
        case closeDelimited
        /// A `Content-Length` that is so much larger (smaller when negative) than what is sent.
        case wrongLength(by: Int64)
        /// A `Content-Length` for each of these.
        case lengths([String])
        /// Chunked, with a `Content-Length` that is so much larger than what is sent.
        case chunkedWithLength(by: Int64)

        package var isChunked: Bool {
            switch self {
            case .chunked, .chunkedWithLength: true
            case .contentLength, .closeDelimited, .wrongLength, .lengths: false
            }
        }

        /// The server takes the body to have ended where it ends, and waits for the next request.
        var isDelimited: Bool {
            switch self {
            case .contentLength, .chunked, .chunkedWithLength: true
            case .wrongLength(let more): more < 0
            case .closeDelimited, .lengths: false
            }
        }

        /// Where a body of this size is announced to end, if that is before its end.
        func earlyEnd(of size: Int64) -> Int64? {
            if case .wrongLength(let more) = self, more < 0 { max(0, size + more) } else { nil }
        }

        /// The values of its `Content-Length` fields for a body of this size.
        func lengths(of size: Int64) -> [String] {
            switch self {
            case .contentLength: ["\(size)"]
            case .wrongLength(let more), .chunkedWithLength(let more): ["\(size + more)"]
            case .lengths(let values): values
            case .chunked, .closeDelimited: []
            }
        }
    }

    package struct Trickle: Sendable, Equatable {
        package var bytesPerSecond: Int
        package var count: Int64

        package init(_ bytesPerSecond: Int, upTo count: Int64) {
            self.bytesPerSecond = bytesPerSecond
            self.count = count
        }
    }

    /// Bytes that no server should send; then the connection ends.
    package struct Raw: Sendable {
        package var bytes: [UInt8]
        /// Sent again and again until the client leaves, or a gigabyte is reached; nothing when empty.
        package var unit: [UInt8] = []

        package init(_ text: String) { bytes = Array(text.utf8) }

        package init(_ bytes: [UInt8]) { self.bytes = bytes }

        package init(_ text: String, endless unit: String) {
            bytes = Array(text.utf8)
            self.unit = Array(unit.utf8)
        }
    }

    /// What ends the reply before its time, after so many bytes of the body.
    package enum Cut: Sendable, Equatable {
        /// An orderly end of the connection.
        case close(after: Int64)
        /// RST, once the peer's kernel has the bytes.
        case reset(after: Int64)
        /// Silence until the client goes or the server is stopped.
        case stall(after: Int64)
        /// The connection ends with no reply at all.
        case silence
        /// A TLS record whose MAC is wrong.
        case corruptRecord(after: Int64)
        /// The end of the connection in the middle of a TLS record.
        case halfRecord(after: Int64)

        package var limit: Int64 {
            switch self {
            case .close(let count), .reset(let count), .stall(let count), .corruptRecord(let count),
                .halfRecord(let count):
                count
            case .silence: 0
            }
        }
    }

    /// A copy with something changed, to write a script in one expression.
    package func with(_ change: (inout FaultReply) -> Void) -> FaultReply {
        var copy = self
        change(&copy)
        return copy
    }
}
