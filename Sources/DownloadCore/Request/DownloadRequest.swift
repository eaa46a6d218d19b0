/// A request for a download, as a value: the counterpart of `URLRequest`. Passwords, request bodies and header fields
/// with credentials are sent, but never stored.
// A new property is stored and sent to other sessions only if it is one of the documentFields.
public struct DownloadRequest: Sendable, Equatable {
    /// The URL of the file.
    public var url: SourceURL
    package var destination: Destination
    /// Further URLs of the same file, in the order in which they are asked. Credentials go to the origin of ``url``
    /// only.
    public var mirrors: [SourceURL] = []
    /// The size in bytes that the file must have; nil for any size.
    public var size: Int64?
    /// The digests of the file's pieces, from a Metalink document.
    package var pieces: PieceHashes?
    /// Whether dlm follows an answer that is a Metalink document. It then downloads the file that the document
    /// describes.
    public var followsMetalink = true
    /// The country whose sources are asked first, if a Metalink document is followed.
    package var location: String?
    /// The file's name in the Metalink document that was found at ``url``. The file itself can then be fetched only
    /// from ``mirrors``.
    package var describedName: String?
    /// The Metalink document that the server named for the file. ``mirrors``, ``size`` and ``pieces`` come from this
    /// document. They apply as long as the bytes on disk are of the version for which the server named the document.
    package var describedBy: SourceURL?
    /// Whether to fetch only those pieces of a file on disk that do not match their digests.
    package var repairs = false
    /// Header fields that are sent to the origin of ``url``.
    public var headers: [RequestHeader] = []
    package var boxedHTTP: Boxed<HTTPOptions>
    /// The method, the body and other options of HTTP requests.
    public var http: HTTPOptions {
        get { boxedHTTP.wrappedValue }
        _modify { yield &boxedHTTP.wrappedValue }
    }
    /// The user name and password for the origin of ``url``.
    public var credential: Credential?
    @Boxed package var secretFiles: SecretFiles
    /// The checksum that the file must have; nil for none. Without a checksum, the file must match the digest that is
    /// found (``proof``), for example in the server's `Repr-Digest` (RFC 9530).
    public var checksum: Checksum?
    /// The list in which the file's checksum is looked up when the download is added: by the name in the URL and by the
    /// requested name, or else later by the name that the server gives. If ``checksum`` is given, it is used instead.
    public var checksums: ChecksumList?
    /// The digests that are looked for if there is no ``checksum``. The library asks for no other path than that of
    /// the URL unless it is told to, as `URLSession` does, so the default is `headers`. The program `dlm` uses `auto`.
    public var proof = ProofPolicy.headers
    /// The keys of which one must have signed the file, or a list that has the file's digest. Without a signature the
    /// file does not get its name. A key is the text of a minisign key (`RW...`), or a file with a key of minisign or
    /// signify or with OpenPGP keys. `FILE#FINGERPRINT` permits one of the OpenPGP keys in the file only.
    public var signedBy: [String] = []
    /// Whether a signed list counts that is older than the last one that was seen in its folder.
    public var allowsRollback = false
    /// Whether the key of ``signedBy`` that makes the first good signature in a folder is recorded, and is from then on
    /// the only one that counts there, also for other downloads. A single key in ``signedBy`` counts nevertheless. With
    /// true, it is recorded instead.
    public var trustsFirstUse = false
    /// The number of parallel connections for this file.
    public var connections = Connections.automatic
    /// The priority. Downloads with a higher priority start earlier.
    public var priority = 0
    /// The speed limit in bytes per second; nil for no limit.
    public var rateLimit: Int64?
    /// The policy for further attempts after a failed attempt.
    public var retry = RetryPolicy()
    /// The policy for redirects.
    public var redirect = RedirectPolicy()
    package var boxedTrust: Boxed<ServerTrustPolicy>
    /// The policy for how the server, and the client, prove their identities.
    public var trust: ServerTrustPolicy {
        get { boxedTrust.wrappedValue }
        _modify { yield &boxedTrust.wrappedValue }
    }
    package var boxedNetwork: Boxed<NetworkSettings>
    /// The settings for the way to the server: proxy, interface, address family.
    public var network: NetworkSettings {
        get { boxedNetwork.wrappedValue }
        _modify { yield &boxedNetwork.wrappedValue }
    }
    /// The time limits of an attempt and of the whole download.
    public var timeouts = Timeouts()
    /// Whether to accept a file that nothing proves to be whole. This concerns a body that ends with its connection
    /// (RFC 9112 section 8). It also concerns parts that neither a strong validator nor a digest proves to be of the
    /// same version (RFC 9110 section 15.3.7.3).
    public var acceptsUnverified = false
    /// The conditions that an answer must meet to be accepted as the file.
    package var validation = ResponseValidation()
    /// Whether the download is paused when it is added. It then begins only when the user resumes it.
    public var startsPaused = false
    /// Whether a file that this download has completed before is used without asking the server for a newer one. If
    /// somebody has changed the file since, the server is asked.
    package var keepsCompleted = false
    /// The programs to run when the download has ended; nil for none.
    package var hooks: Hooks?
    /// The schedule of the download; nil if it may run at any time.
    public var schedule: DownloadSchedule?
    /// The time between the start of this download and the next from the same origin, in seconds; nil for none.
    package var pacing: Double?

    package init(url: SourceURL, destination: Destination) {
        self.url = url
        self.destination = destination
        (boxedHTTP, _secretFiles) = (Self.noHTTPOptions, Self.noSecretFiles)
        (boxedTrust, boxedNetwork) = (Self.systemTrust, Self.anyNetwork)
    }

    // These values are shared by all requests with default options.
    private static let noHTTPOptions = Boxed(wrappedValue: HTTPOptions())
    private static let noSecretFiles = Boxed(wrappedValue: SecretFiles())
    static let systemTrust = Boxed(wrappedValue: ServerTrustPolicy.system)
    static let anyNetwork = Boxed(wrappedValue: NetworkSettings())

    /// The number of parallel connections for a file, from 1 to 64. An integer literal is a fixed number.
    public enum Connections: Sendable, Equatable, ExpressibleByIntegerLiteral {
        /// Over HTTP, connections are added while they make the download faster, up to 6. With other protocols, one
        /// connection is used.
        case automatic
        /// An automatic number with another limit than 6.
        case upTo(Int)
        /// A fixed number, which is lowered only if the server refuses connections.
        case fixed(Int)

        package static let possible = 1...64

        /// Creates a fixed number.
        public init(integerLiteral number: Int) { self = .fixed(number) }

        /// Creates the value from the two numbers that documents have.
        /// - Parameters:
        ///   - number: The fixed number; 0 for an automatic number.
        ///   - limit: The limit of an automatic number; nil for the default limit.
        package init(number: Int, limit: Int?) {
            self = number != 0 ? .fixed(number) : limit.map { .upTo($0) } ?? .automatic
        }

        package var fixed: Int? { if case .fixed(let number) = self { number } else { nil } }
        /// The fixed number, or 0 for an automatic number.
        package var number: Int {
            get { fixed ?? 0 }
            set { self = Connections(number: newValue, limit: nil) }
        }
        package var limit: Int? {
            get { if case .upTo(let limit) = self { limit } else { nil } }
            set { self = Connections(number: number, limit: newValue ?? limit) }
        }
    }

    /// The time limits.
    public struct Timeouts: Sendable, Equatable {
        /// The limit for name resolution, TCP and TLS together, for each attempt to connect.
        public var connect: Duration
        /// The time without a byte after which the connection is cut.
        public var stall: Duration
        /// The limit for the time from the first attempt to the last byte, without pauses and the time in the queue;
        /// nil for no limit.
        public var total: Duration?

        /// Makes time limits.
        public init(connect: Duration = .seconds(15), stall: Duration = .seconds(30), total: Duration? = nil) {
            self.connect = connect
            self.stall = stall
            self.total = total
        }
    }
}

extension DownloadRequest: Codable {
    public init(from decoder: any Decoder) throws { self = try RequestDocument(from: decoder).request }

    public func encode(to encoder: any Encoder) throws { try RequestDocument(self).encode(to: encoder) }
}

extension DownloadRequest: DocumentObject {
    /// The fields of a request that are stored and sent, with their names. With `object:`, a value that is an object is
    /// written field by field. Without it, the `Codable` code of the value's type writes the value.
    package static let documentFields: [DocumentField<DownloadRequest>] = [
        DocumentField("destination", object: \.destination),
        DocumentField("headers", \.headers),
        DocumentField("http", \.http),
        DocumentField("credential", \.credential),
        DocumentField("secretFiles", \.secretFiles),
        DocumentField("checksum", \.checksum),
        DocumentField("checksums", \.checksums),
        DocumentField("verify", \.proof),
        DocumentField("signedBy", \.signedBy),
        DocumentField("allowsRollback", \.allowsRollback),
        DocumentField("trustsFirstUse", \.trustsFirstUse),
        DocumentField("connections", \.connections.number),
        DocumentField("connectionLimit", \.connections.limit),
        DocumentField("rateLimit", \.rateLimit),
        DocumentField("retry", object: \.retry),
        DocumentField("redirect", object: \.redirect),
        DocumentField("trust", \.trust),
        DocumentField("network", \.network),
        DocumentField("timeouts", object: \.timeouts),
        DocumentField("acceptsUnverified", \.acceptsUnverified),
        DocumentField("validation", object: \.validation),
        DocumentField("startsPaused", \.startsPaused),
        DocumentField("hooks", object: \.hooksOfDocument),
        DocumentField("mirrors", \.mirrors),
        DocumentField("size", \.size),
        DocumentField("pieces", \.pieces),
        DocumentField("followsMetalink", \.followsMetalink),
        DocumentField("location", \.location),
        DocumentField("describedName", \.describedName),
        DocumentField("describedBy", \.describedBy),
        DocumentField("schedule", \.schedule),
        DocumentField("pacing", \.pacing),
        DocumentField("repairs", \.repairs),
        DocumentField("keepsCompleted", \.keepsCompleted),
        DocumentField("url", \.url),
        DocumentField("priority", \.priority),
    ]

    private var hooksOfDocument: Hooks {
        get { hooks ?? Hooks() }
        set { hooks = newValue == Hooks() ? nil : newValue }
    }
}

extension DownloadRequest.Timeouts: DocumentObject {
    static let documentFields: [DocumentField<DownloadRequest.Timeouts>] = [
        DocumentField("connect", \.connect.inSeconds),
        DocumentField("stall", \.stall.inSeconds),
        DocumentField("total", \.total.inSeconds),
    ]
}

extension DownloadRequest {
    /// Whether the request has parts that are not stored.
    package var hasSecrets: Bool {
        credential != nil || http.body != nil || network.proxy?.credential != nil
            || headers.contains(where: \.isSecret)
    }

    /// Whether the server's digests are used. They are ignored if the user gave a checksum.
    package var asksForDigest: Bool { checksum == nil && proof != .off }

    /// The only scheme that the user's options allow; nil for any scheme.
    package var onlyScheme: String? {
        if trust.pinnedKey != nil { return "https" }
        guard let schemes = redirect.schemes, Set(schemes).count == 1 else { return nil }
        return schemes.first
    }

    /// Throws if the scheme of the URL may not be used, or if the request has options that the scheme does not support,
    /// or header fields that only libcurl may set.
    package func requireAllowed() throws(DownloadError) {
        if let only = onlyScheme, only != url.scheme {
            throw .requestInvalid(.schemeNotAllowed(url.string, only: only))
        }
        if let schemes = redirect.schemes, !schemes.contains(url.scheme) {
            throw .requestInvalid(.schemeNotAllowed(url.string, only: schemes.joined(separator: " or ")))
        }
        if let field = headers.first(where: \.changesFraming) {
            throw .requestInvalid(.notForScheme(url.string, what: "the header field '\(field.name)' cannot be set"))
        }
        if url.isHTTP { return }
        if http.body != nil { throw .requestInvalid(.bodyNotForScheme(url.string)) }
        if http.method != nil { throw .requestInvalid(.methodNotForScheme(url.string)) }
    }

    /// Returns whether this request has a checksum or keys that the other request does not require.
    package func asksForMore(than other: DownloadRequest) -> Bool {
        if !signedBy.isEmpty, signedBy != other.signedBy { return true }
        if let checksum { return checksum != other.checksum }
        return checksums != nil && checksums != other.checksums
    }

    /// The names of secrets that must be given again before this request can be sent.
    package var missingSecrets: [String] {
        var names = headers.filter { $0.value == nil }.map(\.name)
        if let credential, credential.password == nil { names.append("the password of \(credential.user)") }
        if let body = http.body, body.bytes == nil { names.append("the data to send") }
        if let proxy = network.proxy?.credential, proxy.password == nil { names.append("the password for the proxy") }
        return names
    }
}
