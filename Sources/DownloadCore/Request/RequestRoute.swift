import HTTPTypes

/// The route of a request through its redirects: the next URL, and which parts of the request may go there. Only this
/// type makes these decisions, for downloads, documents and probes.
package struct RequestRoute: Equatable {
    package private(set) var url: SourceURL
    package private(set) var hops = 0
    /// Whether credentials are sent. False once another origin was asked, even if a redirect led back, because
    /// credentials are for one origin only.
    private(set) var sendsCredentials = true
    /// Whether a redirect turned the request into a GET without a body.
    private(set) var isGet = false

    /// - Parameters:
    ///   - url: The URL of the source that is asked, possibly changed to https.
    ///   - sendsCredentials: False if the credentials were not given for this URL.
    package init(_ url: SourceURL, sendsCredentials: Bool = true) {
        self.url = url
        self.sendsCredentials = sendsCredentials
    }

    /// Follows a redirect. Throws an error if the redirect must not be followed.
    /// - Parameters:
    ///   - status: The status code of the redirect.
    ///   - location: The target as an absolute URL, possibly changed to https.
    package mutating func follow(_ status: Int, to location: String, of request: DownloadRequest) throws(DownloadError)
    {
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

    /// Returns whether the redirect turns the request into a GET (RFC 9110 sections 15.4.2 to 15.4.4). After 301 and
    /// 302 dlm turns a POST into a GET, as other clients do.
    private static func becomesGet(_ status: Int, _ method: HTTPRequest.Method) -> Bool {
        switch status {
        case 303: true
        case 301, 302: method == .post
        default: false
        }
    }
}
