import HTTPTypes

/// How a request is made, beside its URL, its fields and its credentials. Nil is what was not asked for.
public struct HTTPOptions: Codable, Sendable, Equatable {
    /// Nil: GET, or POST with a body.
    public var method: String?
    /// What is sent with the request; nil for nothing.
    public var body: RequestBody?
    /// In place of the library's own; empty for none. Unlike the user's fields it goes along to other origins.
    public var userAgent: String?
    /// As ``userAgent``.
    public var referer: String?
    /// Takes the file in a content coding, and decodes it.
    public var acceptsCompressed: Bool?
    /// How the name and password are shown; nil: as they are (Basic), with the first request, and as a digest to a server
    /// that then asks for one.
    public var authentication: HTTPAuthentication?
    /// Signs each request with the name and password (AWS Signature Version 4): `PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]`.
    public var signature: String?
    /// False: hosts that want https alone (RFC 6797) are not known, and not learned.
    public var upgradesKnownHosts: Bool?

    /// Makes options that ask for nothing.
    public init() {}

    /// What the other one names counts.
    mutating func take(_ other: HTTPOptions) {
        method = other.method ?? method
        body = other.body ?? body
        userAgent = other.userAgent ?? userAgent
        referer = other.referer ?? referer
        acceptsCompressed = other.acceptsCompressed ?? acceptsCompressed
        authentication = other.authentication ?? authentication
        signature = other.signature ?? signature
        upgradesKnownHosts = other.upgradesKnownHosts ?? upgradesKnownHosts
    }
}

/// What answers a server's challenge (RFC 9110 section 11), in the words of `WWW-Authenticate`.
public enum HTTPAuthentication: String, Codable, Sendable, CaseIterable {
    /// The scheme of this name.
    case basic, digest, ntlm
    /// By a ticket of Kerberos, if the request has no name and password.
    case negotiate
    /// The best that the server has.
    case any

    /// It does without a name.
    var usesTicket: Bool { self == .negotiate || self == .any }
    /// It proves a connection, and not a request.
    var isOfConnection: Bool { self == .ntlm || self == .negotiate || self == .any }
}

/// What is sent with a request. A form may hold a password, so it is never stored.
public struct RequestBody: Sendable, Equatable {
    /// Nil: it was not stored and must be given again.
    public let bytes: [UInt8]?

    /// Bytes; it travels to the background session, and stays in memory.
    public static let longest = 256 << 10

    /// Makes a body.
    public init(_ bytes: [UInt8]?) { self.bytes = bytes }
}

extension RequestBody: Codable {
    private enum Key: CodingKey {}

    public init(from decoder: any Decoder) throws {
        _ = try decoder.container(keyedBy: Key.self)
        bytes = nil
    }

    public func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: Key.self) }
}

/// Keeps it out of everything that prints a request.
extension RequestBody: CustomStringConvertible, CustomReflectable {
    public var description: String { bytes.map { "\($0.count) bytes" } ?? "not stored" }
    public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}

extension DownloadRequest {
    var method: HTTPRequest.Method {
        http.method.flatMap { HTTPRequest.Method($0) } ?? (http.body == nil ? .get : .post)
    }

    /// A GET without a body: it may be asked for in parts, and under a condition.
    package var isPlain: Bool { method == .get && http.body == nil }

    /// What is here already need not come again. The bytes of a decoded answer have no offsets to ask for, and SCP sends
    /// whole files.
    var asksRanges: Bool { isPlain && (http.acceptsCompressed != true || !url.isHTTP) && url.known != .scp }

    /// To send it twice does no more than to send it once (RFC 9110 section 9.2.2).
    package var isIdempotent: Bool { ![.post, .patch].contains(method) }

    /// A failure may be followed by the same request: either that does no harm, or it never reached the server.
    func mayBeSentAgain(after error: DownloadError) -> Bool {
        switch error {
        case .networkFailed(.nameResolution, _), .networkFailed(.connect, _): true
        default: isIdempotent
        }
    }
}
