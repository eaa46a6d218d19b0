import HTTPTypes

/// Moves the bytes of one request at a time into a sink; it knows nothing of files, retries or downloads.
package protocol Transport: Sendable {
    /// Begins a transfer. The sink hears of it on the transport's own thread until `transferDidFinish`, which
    /// always comes, and comes once.
    func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer
    /// For bytes that come from this machine: they count like those of its transfers under the same limits.
    func allowance(under limits: [RateLimit]) -> any RateAllowance
    /// Ends transfers, and lets go of connections, that come from an address of this machine that is not among these:
    /// nothing can arrive on them any more. The sinks hear of ``NetworkFailure/networkChanged``.
    func leave(_ usable: Set<String>)
    /// Cancels what is left and ends the threads; later starts fail at once.
    func shutdown()
}

extension Transport {
    package func leave(_ usable: Set<String>) {}
}

/// A handle on a running transfer; every call is safe from any thread and does nothing once it has ended.
package protocol Transfer: AnyObject, Sendable {
    /// Ends it; the sink then hears `.cancelled`.
    func cancel()
    /// Goes on after the sink answered `.pause`.
    func resume()
}

/// Receives one transfer, on the transport's thread: it must never block.
package protocol TransferSink: AnyObject, Sendable {
    /// Judges the final response head before a byte of the body is taken.
    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition
    /// All of `bytes`, at most 64 KiB, is taken, or nothing is.
    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition
    func transferDidFinish(_ result: TransferResult)
}

package enum HeadDisposition: Sendable, Equatable {
    case accept
    /// Read the body, a little of it at most, and throw it away: the connection stays usable.
    case discard
    /// End the transfer now.
    case refuse
}

package enum BodyDisposition: Sendable, Equatable {
    case taken
    /// Nothing was taken; deliver the same bytes again after ``Transfer/resume()``.
    case pause
    /// End the transfer now.
    case refuse
}

package struct TransferRequest: Sendable, Equatable {
    package var url: SourceURL
    package var method = HTTPRequest.Method.get
    /// Sent with the request; nil for none.
    package var body: [UInt8]?
    package var fields = HTTPFields()
    /// The value of `Range` after `bytes=`: "0-", "100-199"; nil asks for the whole.
    package var range: String?
    package var credential: Credential?
    /// How it is shown; nil for Basic.
    package var authentication: HTTPAuthentication?
    /// See ``HTTPOptions/signature``.
    package var signature: String?
    @Boxed package var trust: ServerTrustPolicy
    @Boxed package var network: NetworkSettings
    /// Asks for the content in a coding, and delivers it decoded.
    package var decodesContent = false
    /// Lines in Netscape's format, of which the fitting ones are sent; nil: cookies are neither sent nor kept.
    package var cookies: [String]?
    package var connectTimeout = 15.0
    package var stallTimeout = 30.0
    /// Share a connection with other transfers where the server speaks HTTP/2. For many small files; a large file
    /// moves better over connections of its own.
    package var prefersMultiplexing = false
    /// Hundreds may run at the same time: each is to hold little memory.
    package var isOneOfMany = false

    /// Path of a Unix socket to connect to instead of the URL's host; no proxy is used then.
    package var unixSocket: String?
    /// Have the result tell of its connection (``TransferResult/connection``).
    package var isTraced = false
    /// Every one of them is kept, whatever it is changed to on the way.
    package var rateLimits: [RateLimit] = []

    package init(url: SourceURL) {
        self.url = url
        (_trust, _network) = (DownloadRequest.systemTrust, DownloadRequest.anyNetwork)
    }
}

extension TransferRequest {
    /// What every request for a download has in common, whatever part of it is asked for.
    /// - Parameter userAgent: unless the request has its own.
    init(_ route: RequestRoute, of request: DownloadRequest, _ secrets: LoadedSecrets, userAgent: String) {
        self.init(url: route.url)
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
            // Not by the value: that would make several fields of one with several cookies (RFC 6265 section 5.4).
            fields[fields: name] = header.value.map { [HTTPField(name: name, value: $0)] } ?? []
        }
        credential = secrets.credential(for: route, of: request)
        authentication = request.http.authentication
        if credential == nil, route.sendsCredentials, authentication?.usesTicket == true {
            credential = Credential(user: "", password: "")
        }
        // Others would learn who asks.
        if route.sendsCredentials { signature = request.http.signature }
        if route.url.isHTTP { cookies = secrets.cookieLines(for: route.url.host) }
        $trust = request.boxedTrust
        if !route.sendsCredentials { (trust.certificate, trust.privateKey) = (nil, nil) }
        $network = request.boxedNetwork
        connectTimeout = request.timeouts.connect
        stallTimeout = request.timeouts.stall
    }
}

/// The status line and header section of the final response (no 1xx).
package struct ResponseHead: Sendable, Equatable {
    package var status: Int
    package var phrase: String
    /// "1.0", "1.1", "2"; empty for what a server without HTTP says of its file, put in the words of HTTP.
    package var httpVersion: String
    package var fields: HTTPFields
    /// `Location` made absolute, for a redirect.
    package var redirectURL: String?
    /// What is delivered is not what goes over the wire: its content coding is taken off.
    package var isDecoded = false
    /// What is known once the head has come, where it sets cookies; other requests need not wait for the end of the body.
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
    /// More came than the `Content-Length` of a 200 announced: the body that was delivered may be cut short.
    package var exceedsLength = false
    /// Of a transfer that is traced.
    package var connection: ConnectionTrace?
    /// All that are known now, of those that were sent with the request and those that came; nil: none are kept.
    package var cookies: KnownCookies?

    package struct KnownCookies: Sendable, Equatable {
        package var host: String
        /// Those that the request was given, in Netscape's format.
        package var sent: [String]
        /// Those that are known after it.
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
