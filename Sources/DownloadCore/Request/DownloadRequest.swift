/// What to download, and how: a value, the counterpart of `URLRequest`. Passwords, request bodies and header fields with
/// credentials are sent, and never stored.
// A property that is added here is kept and sent once it is one of the documentFields.
public struct DownloadRequest: Sendable, Equatable {
    /// The address of the file.
    public var url: SourceURL
    package var destination: Destination
    /// More addresses of the same file, in the order in which they are asked. Credentials go to the origin of ``url`` alone.
    public var mirrors: [SourceURL] = []
    /// The size in bytes that the file must have; nil for any.
    public var size: Int64?
    /// What its pieces must hash to, as a Metalink document says.
    package var pieces: PieceHashes?
    /// An answer that is a Metalink document is not the file: the file is what it describes.
    package var followsMetalink = true
    /// The country whose sources are asked first, of a document that is followed.
    package var location: String?
    /// The name in the document that ``url`` was found to be: the file is at its mirrors alone.
    package var describedName: String?
    /// The document that the server named for the file: ``mirrors``, ``size`` and ``pieces`` are from it, and hold as long
    /// as what is here is of the version that it was named for.
    package var describedBy: SourceURL?
    /// Of a file that is here, only the pieces that are not what they should be are fetched.
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
    /// The digest that the whole file must have; nil for none. A server that sends a digest of its own (`Repr-Digest`,
    /// RFC 9530) is believed as well.
    public var checksum: Checksum?
    /// Where its checksum is to be found once the server has told its name.
    package var checksums: ChecksumList?
    /// Parallel connections for this one file; ``automaticConnections`` for as many as pay, up to what is polite, or
    /// ``automaticConnections(upTo:)``.
    public var connections = automaticConnections
    /// Higher starts earlier.
    public var priority = 0
    /// Bytes per second; nil for none.
    public var rateLimit: Int64?
    /// When a failed attempt is followed by another one.
    public var retry = RetryPolicy()
    /// Which redirects are followed.
    public var redirect = RedirectPolicy()
    package var boxedTrust: Boxed<ServerTrustPolicy>
    /// How the server proves its identity, and the client its own.
    public var trust: ServerTrustPolicy {
        get { boxedTrust.wrappedValue }
        _modify { yield &boxedTrust.wrappedValue }
    }
    package var boxedNetwork: Boxed<NetworkSettings>
    /// The way to the server: proxy, interface, address family.
    public var network: NetworkSettings {
        get { boxedNetwork.wrappedValue }
        _modify { yield &boxedNetwork.wrappedValue }
    }
    /// The time limits of an attempt and of the whole download.
    public var timeouts = Timeouts()
    /// True accepts what nothing proves to be whole: a body whose end is only that of its connection (RFC 9112 section 8), and parts that
    /// neither a strong validator nor a digest joins (RFC 9110 section 15.3.7.3).
    public var acceptsUnverified = false
    /// What an answer must be to be taken for the file.
    public var validation = ResponseValidation()
    /// Recorded and held back when it is added: it begins when it is resumed.
    public var startsPaused = false
    /// A file that this download has completed before, and that nobody changed since, is the one that is asked for: the
    /// server is not asked whether it has a newer one.
    package var keepsCompleted = false
    /// Programs to run when it has ended.
    package var hooks: Hooks?
    /// When it may run; nil: at any time.
    public var schedule: DownloadSchedule?
    /// Seconds between its start and that of the next download from the same origin; nil for none.
    package var pacing: Double?

    package init(url: SourceURL, destination: Destination) {
        self.url = url
        self.destination = destination
        (boxedHTTP, _secretFiles) = (Self.noHTTPOptions, Self.noSecretFiles)
        (boxedTrust, boxedNetwork) = (Self.systemTrust, Self.anyNetwork)
    }

    // Shared by all that are asked for without more.
    private static let noHTTPOptions = Boxed(wrappedValue: HTTPOptions())
    private static let noSecretFiles = Boxed(wrappedValue: SecretFiles())
    static let systemTrust = Boxed(wrappedValue: ServerTrustPolicy.system)
    static let anyNetwork = Boxed(wrappedValue: NetworkSettings())

    /// The value of ``connections`` that has the number found out while the file is fetched.
    public static let automaticConnections = 0
    /// As many connections as pay, at most `limit` (1 to 64): a negative number, beside the numbers that are fixed.
    public static func automaticConnections(upTo limit: Int) -> Int { -max(0, limit) }
    package static let possibleConnections = 0...64
    package static let possibleConnectionLimits = 1...64

    /// The number is given by the user, and not found out.
    package var hasFixedConnections: Bool { connections > 0 }
    /// The most connections that are opened unasked; nil for the usual limit, or where the number is fixed.
    package var connectionLimit: Int? { connections < 0 ? Int(clamping: connections.magnitude) : nil }
    /// As in the store and on the wire, where the limit stands beside it.
    package var connectionsWithoutLimit: Int { max(0, connections) }

    /// - Parameter limit: counts only where `connections` says automatic.
    package static func connections(_ connections: Int, limit: Int?) -> Int {
        connections == automaticConnections ? limit.map { automaticConnections(upTo: $0) } ?? connections : connections
    }

    /// In seconds.
    public struct Timeouts: Sendable, Equatable {
        /// Name resolution, TCP and TLS together, for each attempt to connect.
        public var connect: Double
        /// No byte for so long cuts the connection.
        public var stall: Double
        /// The time from the first attempt to the last byte, pauses and time in the queue not counted; nil for no limit.
        public var total: Double?

        /// Makes time limits, in seconds.
        public init(connect: Double = 15, stall: Double = 30, total: Double? = nil) {
            self.connect = connect
            self.stall = stall
            self.total = total
        }
    }
}

extension DownloadRequest: DocumentObject {
    /// All that is kept and sent of a request, under these names. An object is written as a whole by its own type, or by
    /// the fields that it has.
    package static let documentFields: [DocumentField<DownloadRequest>] = [
        DocumentField("destination", object: \.destination),
        DocumentField("headers", \.headers),
        DocumentField("http", \.http),
        DocumentField("credential", \.credential),
        DocumentField("secretFiles", \.secretFiles),
        DocumentField("checksum", \.checksum),
        DocumentField("checksums", \.checksums),
        DocumentField("connections", \.connectionsOfDocument),
        DocumentField("connectionLimit", \.connectionLimitOfDocument),
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

    /// Some older programs wrote a limit as here, as a number below 0.
    private var connectionsOfDocument: Int {
        get { connectionsWithoutLimit }
        set { connections = newValue }
    }

    /// Beside the number: programs that do not know the limit take their own.
    private var connectionLimitOfDocument: Int? {
        get { connectionLimit }
        set {
            guard connections == Self.automaticConnections, let newValue else { return }
            connections = Self.possibleConnectionLimits.contains(newValue) ? -newValue : .max
        }
    }

    private var hooksOfDocument: Hooks {
        get { hooks ?? Hooks() }
        set { hooks = newValue == Hooks() ? nil : newValue }
    }
}

extension DownloadRequest.Timeouts: DocumentObject {
    static let documentFields: [DocumentField<DownloadRequest.Timeouts>] = [
        DocumentField("connect", \.connect, isAlwaysWritten: true),
        DocumentField("stall", \.stall, isAlwaysWritten: true),
        DocumentField("total", \.total),
    ]
}

extension DownloadRequest {
    /// What a list asks for: then it is encoded, sent and stored once for all its URLs.
    package func differsOnlyInURL(from other: DownloadRequest) -> Bool {
        var same = self
        same.url = other.url
        return same == other
    }

    /// Something of it is not stored.
    var hasSecrets: Bool {
        credential != nil || http.body != nil || network.proxy?.credential != nil
            || headers.contains(where: \.isSecret)
    }

    /// The scheme that a rule of the user's leaves; nil for any.
    package var onlyScheme: String? {
        if trust.pinnedKey != nil { return "https" }
        guard let schemes = redirect.schemes, Set(schemes).count == 1 else { return nil }
        return schemes.first
    }

    /// Its URL has a scheme that may be used, and nothing is asked of it that the scheme has no place for.
    package func requireAllowed() throws(DownloadError) {
        if let only = onlyScheme, only != url.scheme {
            throw .requestInvalid(.schemeNotAllowed(url.string, only: only))
        }
        if let schemes = redirect.schemes, !schemes.contains(url.scheme) {
            throw .requestInvalid(.schemeNotAllowed(url.string, only: schemes.joined(separator: " or ")))
        }
        if url.isHTTP { return }
        if http.body != nil { throw .requestInvalid(.notForScheme(url.string, what: RequestFailure.bodyIsForHTTP)) }
        if http.method != nil {
            throw .requestInvalid(.notForScheme(url.string, what: RequestFailure.methodIsForHTTP))
        }
    }

    /// It wants the file to match a checksum that the other one does not care for.
    package func asksForMore(than other: DownloadRequest) -> Bool {
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
