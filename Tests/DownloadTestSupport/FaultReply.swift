/// The answer of a server to one request. By default it is that of a correct file server.
package struct FaultReply: Sendable {
    package var status = 200
    /// The header fields besides those that follow from the other properties.
    package var fields: [(name: String, value: String)] = []
    /// Further lines of the head, as bytes.
    package var lines: [[UInt8]] = []
    /// The phrase of the status line; nil for the usual one.
    package var phrase: String?
    package var content: Content
    /// The value of `ETag`, with its quotes and `W/`.
    package var etag: String?
    package var lastModified: String?
    package var ranges = RangeBehaviour.honoured
    /// Whether conditional requests (`If-None-Match`, `If-Modified-Since`) can be answered with 304.
    package var honoursConditions = true
    package var framing = Framing.contentLength
    package var cut: Cut?
    /// Whether a TLS connection is ended with close_notify, as RFC 8446 section 6.1 requires.
    package var notifiesClose = true
    /// The fault of a reply over HTTP/2, in addition to the cut.
    package var http2: HTTP2Fault?
    /// The speed of this reply; nil for no limit.
    package var bytesPerSecond: Int?
    /// The slower speed of the first bytes of the body; nil for none.
    package var trickle: Trickle?
    /// The text before the status line, such as interim answers.
    package var preamble = ""
    /// The gate at which the body stops until the test opens it; nil for none.
    package var gate: Gate?
    /// The text between two chunks, after this number of bytes of the body, at least one.
    package var chunkInsertion: (after: Int64, text: String)?
    /// The error in the size of the first chunk after a number of bytes of the body. The chunk claims to be longer by
    /// this number, or shorter if it is negative.
    package var chunkSizeError: (after: Int64, by: Int)?
    /// The end of a chunked body.
    package var lastChunk = "0\r\n\r\n"
    /// The bytes to send instead of the reply; nil to send the reply.
    package var raw: Raw?

    package init(_ content: Content = .empty, etag: String? = nil, lastModified: String? = nil) {
        self.content = content
        self.etag = etag
        self.lastModified = lastModified
    }

    /// Creates a reply with a status other than 2xx, with a small page as its body.
    package init(status: Int, fields: [(name: String, value: String)] = []) {
        self.init(Content("<html><body>status \(status)</body></html>\n"))
        self.status = status
        self.fields = fields
        ranges = .ignored
    }

    package static func redirect(to location: String, status: Int = 302) -> FaultReply {
        FaultReply(status: status, fields: [("Location", location)])
    }

    /// The behaviour for a `Range` field.
    package enum RangeBehaviour: Sendable, Equatable {
        /// 206 according to RFC 9110, including `If-Range`.
        case honoured
        /// 206 even when `If-Range` names another version.
        case honouredBlindly
        /// 200 with the whole file.
        case ignored
        /// 206 with the right bytes and no `Content-Range`.
        case withoutContentRange
        /// 206 whose bytes and `Content-Range` begin later than requested, by this number of bytes.
        case wrongStart(by: Int64)
        /// 206 with the right `Content-Range`, but with bytes from a later offset.
        case wrongBytes(by: Int64)
        /// 206 that ends later than requested, or sooner if the number is negative.
        case wrongEnd(by: Int64)
        /// 206 with a total that is too large by this number.
        case wrongTotal(by: Int64)
        /// 206 with the right bytes and this `Content-Range`.
        case contentRange(String)
        /// 206 with `*` for the total.
        case withoutTotal
        /// 206 whose body is longer than its `Content-Range`, or shorter if the number is negative.
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
        /// No length. The body ends with the connection.
        case closeDelimited
        /// A `Content-Length` that is too large by this number, or too small if it is negative.
        case wrongLength(by: Int64)
        /// A `Content-Length` field for each of these values.
        case lengths([String])
        /// A chunked body, with a `Content-Length` that is too large by this number.
        case chunkedWithLength(by: Int64)

        package var isChunked: Bool {
            switch self {
            case .chunked, .chunkedWithLength: true
            case .contentLength, .closeDelimited, .wrongLength, .lengths: false
            }
        }

        /// Whether the server keeps the connection after the body, and waits for the next request.
        var isDelimited: Bool {
            switch self {
            case .contentLength, .chunked, .chunkedWithLength: true
            case .wrongLength(let more): more < 0
            case .closeDelimited, .lengths: false
            }
        }

        /// Returns the announced end of a body of this size, if it is before the real end.
        func earlyEnd(of size: Int64) -> Int64? {
            if case .wrongLength(let more) = self, more < 0 { max(0, size + more) } else { nil }
        }

        /// Returns the values of the `Content-Length` fields for a body of this size.
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

    /// Invalid bytes, after which the connection ends.
    package struct Raw: Sendable {
        package var bytes: [UInt8]
        /// The bytes that are sent repeatedly until the client closes the connection or a gigabyte is reached. If
        /// empty, nothing is repeated.
        package var unit: [UInt8] = []

        package init(_ text: String) { bytes = Array(text.utf8) }

        package init(_ bytes: [UInt8]) { self.bytes = bytes }

        package init(_ text: String, endless unit: String) {
            bytes = Array(text.utf8)
            self.unit = Array(unit.utf8)
        }
    }

    /// An early end of the reply, after a number of bytes of the body.
    package enum Cut: Sendable, Equatable {
        /// An orderly end of the connection.
        case close(after: Int64)
        /// RST, once the peer's kernel has the bytes.
        case reset(after: Int64)
        /// Silence until the client closes the connection or the server is stopped.
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

    /// Returns a changed copy, so that a script can be one expression.
    package func with(_ change: (inout FaultReply) -> Void) -> FaultReply {
        var copy = self
        change(&copy)
        return copy
    }
}
