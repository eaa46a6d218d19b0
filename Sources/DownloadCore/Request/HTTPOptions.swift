import HTTPTypes

/// The options of HTTP requests, besides the URL, the header fields and the credentials. Nil stands for the default.
public struct HTTPOptions: Codable, Sendable, Equatable {
    /// The method; nil for GET, or for POST if there is a body.
    public var method: String?
    /// The body of the request; nil for none.
    public var body: RequestBody?
    /// The user agent, which replaces the library's own; empty to send none. Unlike header fields of the user, it is
    /// also sent to other origins.
    public var userAgent: String?
    /// The referer. It is also sent to other origins, like ``userAgent``.
    public var referer: String?
    /// Whether to accept the file in a content coding, and to decode it.
    public var acceptsCompressed: Bool?
    /// The scheme for the name and password. If nil, the first request uses Basic. If the server then asks for Digest,
    /// the next request uses Digest. An origin that has asked for Digest before gets Digest at once.
    public var authentication: HTTPAuthentication?
    /// The parameters for signing each request with the name and password (AWS Signature Version 4):
    /// `PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]`.
    public var signature: String?
    /// Whether hosts that want only https (RFC 6797) are remembered and asked over https.
    public var upgradesKnownHosts: Bool?

    /// Creates options with all defaults.
    public init() {}

    /// Replaces the options that `other` gives.
    mutating func take(_ other: HTTPOptions) {
        replace(
            in: &self, with: other, \.method, \.body, \.userAgent, \.referer, \.acceptsCompressed, \.authentication,
            \.signature, \.upgradesKnownHosts)
    }
}

/// Replaces those of these properties that `other` has.
func replace<Root, each Value>(
    in root: inout Root, with other: Root, _ paths: repeat WritableKeyPath<Root, (each Value)?>
) {
    for path in repeat each paths { root[keyPath: path] = other[keyPath: path] ?? root[keyPath: path] }
}

/// The scheme that answers a server's challenge (RFC 9110 section 11).
public enum HTTPAuthentication: String, Codable, Sendable, CaseIterable {
    /// The scheme of this name.
    case basic, digest, ntlm
    /// Negotiate, with a Kerberos ticket if the request has no name and password.
    case negotiate
    /// The best scheme that the server offers.
    case any

    /// Whether the scheme may use a ticket instead of a name.
    var usesTicket: Bool { self == .negotiate || self == .any }
    /// Whether the scheme authenticates a connection, not a single request.
    var isOfConnection: Bool { self == .ntlm || self == .negotiate || self == .any }
}

/// The body of a request. It is never stored, because a form may contain a password.
public struct RequestBody: Sendable, Equatable {
    /// The bytes; nil if they were not stored and must be given again.
    public let bytes: [UInt8]?

    /// The maximum size in bytes. A body is sent to the background session and stays in its memory.
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

/// Descriptions without the body, for all text that prints a request.
extension RequestBody: CustomStringConvertible, CustomReflectable {
    public var description: String { bytes.map { "\($0.count) bytes" } ?? "not stored" }
    public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}

extension DownloadRequest {
    package var method: HTTPRequest.Method {
        http.method.flatMap { HTTPRequest.Method($0) } ?? (http.body == nil ? .get : .post)
    }

    /// Whether the request is a GET without a body. Such a request may ask for parts, and may be conditional.
    package var isPlain: Bool { method == .get && http.body == nil }

    /// Whether the request may ask for ranges. The bytes of a decoded answer have no offsets that could be requested,
    /// and SCP always sends whole files.
    package var asksRanges: Bool { isPlain && (http.acceptsCompressed != true || !url.isHTTP) && url.known != .scp }

    /// Whether sending the request twice has the same effect as sending it once (RFC 9110 section 9.2.2).
    package var isIdempotent: Bool { ![.post, .patch].contains(method) }

    /// Returns whether the request may be sent again after a failure: either a second request does no harm, or the
    /// first never reached the server.
    package func mayBeSentAgain(after error: DownloadError) -> Bool {
        switch error {
        case .networkFailed(.nameResolution, _), .networkFailed(.connect, _): true
        default: isIdempotent
        }
    }

    /// Returns whether the transfers of the request share connections.
    package func multiplexes(byDefault: Bool) -> Bool {
        if http.authentication?.isOfConnection == true { return false }
        return switch network.httpVersion {
        // Transfers that share a QUIC connection may stall (docs/internals/engine.md).
        case .http1, .http3: false
        case .http2: true
        case nil: byDefault && connections.number <= 1
        }
    }

    /// Whether the request contains secrets, which others could read if the request is sent over http.
    package var showsSecrets: Bool {
        credential != nil || http.body != nil || http.authentication != nil || http.signature != nil
            || !secretFiles.isEmpty || headers.contains(where: \.isSecret)
    }
}
