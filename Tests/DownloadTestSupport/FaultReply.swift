/// The answer of a server to one request. The defaults are those of a well-behaved file server.
package struct FaultReply: Sendable {
    package var status = 200
    /// Additional fields of the head.
    package var fields: [(name: String, value: String)] = []
    /// Additional lines of the head, as bytes on the wire.
    package var lines: [[UInt8]] = []
    /// The reason phrase of the status line. Nil means the usual phrase.
    package var phrase: String?
    package var content: Content
    /// The value of `ETag`, with its quotes and `W/`.
    package var etag: String?
    package var lastModified: String?
    package var ranges = RangeBehaviour.honoured
    /// Whether `If-None-Match` and `If-Modified-Since` are answered with 304 if they name the version of the content.
    package var honoursConditions = true
    package var framing = Framing.contentLength
    package var cut: Cut?
    /// Whether a connection over TLS is ended with close_notify, as it should be (RFC 8446, section 6.1).
    package var notifiesClose = true
    /// A fault of a reply over HTTP/2, in addition to the cut.
    package var http2: HTTP2Fault?
    /// The rate of this reply alone.
    package var bytesPerSecond: Int?
    /// The first bytes of the body are sent at this lower rate.
    package var trickle: Trickle?
    /// Text that is sent before the status line, such as interim answers.
    package var preamble = ""
    /// The body stops at a byte until the test opens the gate.
    package var gate: Gate?
    /// Text that is sent between two chunks, once `after` bytes of the body (at least one) have been sent.
    package var chunkInsertion: (after: Int64, text: String)?
    /// The first chunk after `after` bytes of the body announces a size that is `by` bytes too large. A negative number
    /// means too small.
    package var chunkSizeError: (after: Int64, by: Int)?
    /// The end of a chunked body.
    package var lastChunk = "0\r\n\r\n"
    /// Bytes that are sent instead of everything that the other properties describe.
    package var raw: Raw?

    package init(_ content: Content = .empty, etag: String? = nil, lastModified: String? = nil) {
        self.content = content
        self.etag = etag
        self.lastModified = lastModified
    }

    /// Creates an answer with a status other than 2xx and a small page as its body.
    package init(status: Int, fields: [(name: String, value: String)] = []) {
        self.init(Content("<html><body>status \(status)</body></html>\n"))
        self.status = status
        self.fields = fields
        ranges = .ignored
    }

    package static func redirect(to location: String, status: Int = 302) -> FaultReply {
        FaultReply(status: status, fields: [("Location", location)])
    }

    /// How a server answers a `Range` field.
    package enum RangeBehaviour: Sendable, Equatable {
        /// 206 as RFC 9110 says, with respect to `If-Range`.
        case honoured
        /// 206 even if `If-Range` names another version.
        case honouredBlindly
        /// 200 with the whole file.
        case ignored
        /// 206 with the right bytes and no `Content-Range`.
        case withoutContentRange
        /// 206 whose bytes and `Content-Range` begin this many bytes after the requested offset.
        case wrongStart(by: Int64)
        /// The part begins at a multiple of this size before the requested start, as its `Content-Range` says.
        case blockStart(Int64)
        /// 206 with the right `Content-Range`, and bytes from this many bytes later in the file.
        case wrongBytes(by: Int64)
        /// 206 that ends this many bytes after the requested end. A negative number means before the end.
        case wrongEnd(by: Int64)
        /// 206 with a total size that is this many bytes too large.
        case wrongTotal(by: Int64)
        /// 206 with the right bytes and this `Content-Range`.
        case contentRange(String)
        /// 206 with `*` for the total size.
        case withoutTotal
        /// 206 whose body is this many bytes longer than its `Content-Range`. A negative number means shorter.
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
        /// No length. The end of the connection is the end of the body.
        case closeDelimited
        /// A `Content-Length` that is this many bytes larger than the body. A negative number means smaller.
        case wrongLength(by: Int64)
        /// A `Content-Length` field for each of these values.
        case lengths([String])
        /// Chunked, with a `Content-Length` that is this many bytes larger than the body.
        case chunkedWithLength(by: Int64)

        package var isChunked: Bool {
            switch self {
            case .chunked, .chunkedWithLength: true
            case .contentLength, .closeDelimited, .wrongLength, .lengths: false
            }
        }

        /// Whether the server considers the body complete at its end, and waits for the next request on the connection.
        var isDelimited: Bool {
            switch self {
            case .contentLength, .chunked, .chunkedWithLength: true
            case .wrongLength(let more): more < 0
            case .closeDelimited, .lengths: false
            }
        }

        /// Returns the announced end of a body of this size if it is before the true end.
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

    /// Bytes that no server should send. After them the connection ends.
    package struct Raw: Sendable {
        package var bytes: [UInt8]
        /// The bytes that are sent again and again until the client closes the connection, or a gigabyte is reached.
        /// Nothing is sent if empty.
        package var unit: [UInt8] = []

        package init(_ text: String) { bytes = Array(text.utf8) }

        package init(_ bytes: [UInt8]) { self.bytes = bytes }

        package init(_ text: String, endless unit: String) {
            bytes = Array(text.utf8)
            self.unit = Array(unit.utf8)
        }
    }

    /// What ends the reply early, after a number of bytes of the body.
    package enum Cut: Sendable, Equatable {
        /// An orderly end of the connection.
        case close(after: Int64)
        /// RST, once the peer's kernel has the bytes.
        case reset(after: Int64)
        /// Silence until the client closes the connection or the server is stopped.
        case stall(after: Int64)
        /// The connection ends without any reply.
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

    /// Returns a changed copy, to write a script in one expression.
    package func with(_ change: (inout FaultReply) -> Void) -> FaultReply {
        var copy = self
        change(&copy)
        return copy
    }
}
