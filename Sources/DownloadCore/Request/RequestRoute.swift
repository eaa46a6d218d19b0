import HTTPTypes

/// The way of a request along its redirects: where it goes next, and what of it goes along. This is the one place that
/// decides that, for downloads as for documents and probes. Pure, but for a look at the list of strict hosts.
struct RequestRoute: Equatable {
    private(set) var url: SourceURL
    private(set) var hops = 0
    /// False once another origin was asked, even if that led back: what is for one origin is for no other.
    private(set) var sendsCredentials = true
    /// A redirect made it a GET without a body.
    private(set) var isGet = false

    /// - Parameters:
    ///   - url: where the request goes, which is the source that is asked, or the same over https.
    ///   - sendsCredentials: false where that is not the URL that they were given for.
    init(_ url: SourceURL, sendsCredentials: Bool = true) {
        self.url = url
        self.sendsCredentials = sendsCredentials
    }

    /// Begins at one of the request's sources.
    /// - Parameters:
    ///   - strictHosts: hosts that are asked over https in any case.
    ///   - sendsCredentials: nil where the URL is the request's own or one of its mirrors, which tells.
    init(
        _ source: SourceURL, of request: DownloadRequest, upgradedBy strictHosts: HSTSStore?,
        sendsCredentials: Bool? = nil
    ) {
        self.init(
            strictHosts?.upgraded(source, for: request) ?? source,
            sendsCredentials: sendsCredentials ?? (source.origin == request.url.origin))
    }

    /// - Parameters:
    ///   - status: of the redirect.
    ///   - location: made absolute.
    ///   - strictHosts: hosts that are asked over https in any case.
    mutating func follow(
        _ status: Int, to location: String, of request: DownloadRequest, upgradedBy strictHosts: HSTSStore?
    ) throws(DownloadError) {
        let location = strictHosts?.upgraded(location: location, for: request) ?? location
        switch request.redirect.decide(from: url, to: location, hops: hops) {
        case .refuse(let failure): throw .protocolViolated(failure)
        case .follow(let target, let keepsCredentials):
            isGet = isGet || Self.becomesGet(status, request.method)
            if !keepsCredentials, request.http.body != nil, !isGet {
                throw .protocolViolated(
                    .redirectRefused("the data of the request would go to another origin, \(target.origin)"))
            }
            hops += 1
            url = target
            sendsCredentials = sendsCredentials && keepsCredentials
        }
    }

    /// RFC 9110 sections 15.4.2 to 15.4.4; a POST becomes a GET as everywhere.
    private static func becomesGet(_ status: Int, _ method: HTTPRequest.Method) -> Bool {
        switch status {
        case 303: true
        case 301, 302: method == .post
        default: false
        }
    }
}
