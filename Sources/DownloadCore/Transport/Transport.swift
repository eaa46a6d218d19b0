import HTTPTypes

/// The layer that makes requests and delivers the bytes of each answer to a sink. It knows nothing about files, retries
/// or downloads.
package protocol Transport: Sendable {
    /// Begins a transfer. The methods of the sink are called on the transport's own thread. The last call is
    /// `transferDidFinish`, which always comes, exactly once.
    func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer
    /// Returns a share of the limits for bytes that are copied on this machine. They count like the bytes of transfers
    /// with the same limits.
    func allowance(under limits: [RateLimit]) -> any RateAllowance
    /// Ends the transfers and closes the connections whose local address is not in the given set, because no data can
    /// arrive on them any more. The error of these transfers is ``NetworkFailure/networkChanged``.
    func dropConnections(except usable: Set<String>)
    /// Cancels the running transfers and ends the threads. A transfer that is started later ends at once with
    /// `.cancelled`.
    func shutdown()
}

extension Transport {
    package func dropConnections(except usable: Set<String>) {}
}

/// A handle for a running transfer. Its methods can be called on any thread, and do nothing after the end of the
/// transfer.
package protocol Transfer: AnyObject, Sendable {
    /// Cancels the transfer, which then finishes with `.cancelled`.
    func cancel()
    /// Continues the transfer after the sink returned `.pause`.
    func resume()
    /// Looks up the addresses among which a further request for the URL of this transfer can choose. The first one is
    /// the address of this transfer's connection. Returns no addresses if there is no choice.
    func addresses() async -> [String]
}

extension Transfer {
    package func addresses() async -> [String] { [] }
}

/// The receiver of one transfer. Its methods are called on the transport's thread and must never block.
package protocol TransferSink: AnyObject, Sendable {
    /// Judges the final response head before a byte of the body is taken.
    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition
    /// Handles the next bytes of the body, at most 64 KiB. Takes all of them and returns `.taken`, or takes none of
    /// them and returns `.pause`. Before the sink returns `.refuse`, it may take the first bytes.
    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition
    func transferDidFinish(_ result: TransferResult)
}

package enum HeadDisposition: Sendable, Equatable {
    case accept
    /// Read at most a little of the body, and discard it, so that the connection can be used again.
    case discard
    /// End the transfer now.
    case refuse
}

package enum BodyDisposition: Sendable, Equatable {
    case taken
    /// No byte was taken. The same bytes must be delivered again after ``Transfer/resume()``.
    case pause
    /// End the transfer now.
    case refuse
}

package struct TransferRequest: Sendable, Equatable {
    package var url: SourceURL {
        didSet { if !url.hasOrigin(of: oldValue) { origin = url.origin } }
    }
    package private(set) var origin: String
    /// The value of `Range` after `bytes=`, such as "0-" or "100-199"; nil for the whole file.
    package var range: String?
    /// The cookies as lines in Netscape's format. Those that match the URL are sent. If nil, cookies are neither sent
    /// nor kept.
    package var cookies: [String]?
    /// Whether the transfer shares a connection with others if the server supports HTTP/2. This is better for many
    /// small files. A large file is faster over its own connections.
    package var prefersMultiplexing = false
    /// The rate limits, which can change during the transfer. The transfer keeps to all of them.
    package var rateLimits: [RateLimit] = []
    @Boxed package var options: TransferOptions

    package init(url: SourceURL) {
        (self.url, origin) = (url, url.origin)
        _options = Boxed(wrappedValue: TransferOptions())
    }

    /// Creates a request with the properties that all requests of a download have in common.
    /// - Parameter userAgent: the value for a request without its own.
    package init(_ route: RequestRoute, of request: DownloadRequest, _ secrets: LoadedSecrets, userAgent: String) {
        (url, origin) = (route.url, route.url.origin)
        if route.url.isHTTP { cookies = secrets.cookieLines(for: route.url.host) }
        _options = Boxed(wrappedValue: TransferOptions(route, of: request, secrets, userAgent: userAgent))
    }
}

/// Questions about the options. Other modules would have to copy all options to answer them.
extension TransferRequest {
    package var method: HTTPRequest.Method { options.method }
    package var credential: Credential? { options.credential }
    package var decodesContent: Bool { options.decodesContent }
    package var isOneOfMany: Bool { options.isOneOfMany }
    package var dnsCacheTime: Double? { options.network.dnsCacheTime }

    /// Whether the request has no body, no credential, no cookies, no Unix socket and no trace.
    package var isPlain: Bool {
        options.body == nil && options.credential == nil && options.unixSocket == nil && !options.isTraced
            && cookies?.isEmpty != false
    }

    /// Returns whether the requests differ in nothing but the path of the URL and the rate limits.
    package func isLike(_ other: TransferRequest) -> Bool {
        prefersMultiplexing == other.prefersMultiplexing && origin == other.origin && range == other.range
            && cookies == other.cookies && $options == other.$options
    }
}

/// The part of a request that is the same for all small files of a list.
package struct TransferOptions: Sendable, Equatable {
    package var method = HTTPRequest.Method.get
    /// The body of the request; nil for none.
    package var body: [UInt8]?
    package var fields = HTTPFields()
    package var credential: Credential?
    /// The scheme of the authentication; see ``HTTPOptions/authentication``.
    package var authentication: HTTPAuthentication?
    /// The parameters of the signature; see ``HTTPOptions/signature``.
    package var signature: String?
    @Boxed package var trust: ServerTrustPolicy
    @Boxed package var network: NetworkSettings
    /// Whether compressed content is accepted and delivered decompressed.
    package var decodesContent = false
    package var connectTimeout = 15.0
    package var stallTimeout = 30.0
    /// Whether hundreds of such transfers may run at the same time, so that each must use little memory.
    package var isOneOfMany = false
    /// The path of a Unix socket to connect to instead of the URL's host, without a proxy.
    package var unixSocket: String?
    /// Whether the result describes the connection (``TransferResult/connection``).
    package var isTraced = false

    init() { (_trust, _network) = (DownloadRequest.systemTrust, DownloadRequest.anyNetwork) }

    fileprivate init(
        _ route: RequestRoute, of request: DownloadRequest, _ secrets: LoadedSecrets, userAgent: String
    ) {
        self.init()
        let agent = request.http.userAgent ?? userAgent
        if !agent.isEmpty { fields[.userAgent] = agent }
        if let referer = request.http.referer { fields[.referer] = referer }
        decodesContent = request.http.acceptsCompressed == true && route.url.isHTTP
        if !decodesContent { fields[.acceptEncoding] = "identity" }
        if let authorization = secrets.authorization(for: route) { fields[.authorization] = authorization }
        if !route.isGet {
            method = request.method
            body = request.http.body.map { $0.bytes ?? [] }
            if body?.isEmpty == false { fields[.contentType] = "application/x-www-form-urlencoded" }
        }
        for header in request.headers where route.sendsCredentials {
            guard let name = HTTPField.Name(header.name) else { continue }
            // Setting the value by the name would divide a field with several cookies into several fields (RFC 6265
            // section 5.4).
            fields[fields: name] = header.value.map { [HTTPField(name: name, value: $0)] } ?? []
        }
        credential = secrets.credential(for: route, of: request)
        authentication = request.http.authentication
        if credential == nil, route.sendsCredentials, authentication?.usesTicket == true {
            credential = Credential(user: "", password: "")
        }
        // Other servers must not learn whose request it is.
        if route.sendsCredentials { signature = request.http.signature }
        $trust = request.boxedTrust
        if !route.sendsCredentials { (trust.certificate, trust.privateKey) = (nil, nil) }
        $network = request.boxedNetwork
        connectTimeout = request.timeouts.connect.inSeconds
        stallTimeout = request.timeouts.stall.inSeconds
    }
}

/// The status line and header section of the final response (no 1xx).
package struct ResponseHead: Sendable, Equatable {
    package var status: Int
    package var phrase: String
    /// "1.0", "1.1", "2" or "3". It is empty for a protocol other than HTTP, whose answer is expressed as an HTTP head.
    package var httpVersion: String
    package var fields: HTTPFields
    /// The absolute URL of `Location`, for a redirect.
    package var redirectURL: String?
    /// Whether the body is delivered decompressed, unlike the bytes from the server.
    package var isDecoded = false
    /// The cookies known after this head, if it sets cookies. Other requests can use them before the end of the body.
    package var cookies: TransferResult.KnownCookies?

    package init(
        status: Int, phrase: String = "", httpVersion: String = "1.1", fields: HTTPFields = HTTPFields(),
        redirectURL: String? = nil
    ) {
        self.status = status
        self.phrase = phrase
        self.httpVersion = httpVersion
        self.fields = fields
        self.redirectURL = redirectURL
    }
}

package struct TransferResult: Sendable, Equatable {
    package enum Ending: Sendable, Equatable {
        /// The response is complete by its own framing.
        case complete
        /// The sink refused the head or a piece of the body.
        case refused
        case cancelled
        case failed(DownloadError)
    }

    package var ending: Ending
    package var metrics: TransferMetrics
    /// Whether more bytes came than the `Content-Length` of a 200 announced. Then the delivered body may be incomplete.
    package var exceedsLength = false
    /// The fields after the body (RFC 9110 section 6.5); nil if there were none.
    package var trailers: HTTPFields?
    /// The trace of the connection; nil unless the request has ``TransferOptions/isTraced``.
    package var connection: ConnectionTrace?
    /// The cookies after the transfer: those of the request and those that the server has set. Nil if cookies are not
    /// kept.
    package var cookies: KnownCookies?

    package struct KnownCookies: Sendable, Equatable {
        package var host: String
        package var sent: [String]
        /// The cookies known after the transfer.
        package var lines: [String]

        package init(host: String, sent: [String] = [], lines: [String]) {
            self.host = host
            self.sent = sent
            self.lines = lines
        }
    }

    package init(_ ending: Ending, metrics: TransferMetrics = TransferMetrics()) {
        self.ending = ending
        self.metrics = metrics
    }
}
