/// The rules for the URLs that are used, and for the redirects that are followed. Redirects from https to http, and
/// redirects to schemes other than http and https, are always refused.
public struct RedirectPolicy: Sendable, Equatable {
    /// The greatest number of redirects that are followed in one attempt.
    public var limit: Int
    /// The allowed schemes, at the start and after redirects; nil for all supported schemes.
    public var schemes: [String]?
    /// The origins to which redirects may lead; nil for all. It is only for documents, and is not recorded.
    package var origins: Set<String>?

    /// Creates a policy.
    public init(limit: Int = 20, schemes: [String]? = nil) {
        self.limit = limit
        self.schemes = schemes
    }

    package enum Decision: Equatable, Sendable {
        /// Follow the redirect. Credentials and the user's own header fields are kept only within one origin.
        case follow(SourceURL, keepsCredentials: Bool)
        case refuse(ProtocolFailure)
    }

    /// - Parameters:
    ///   - location: the absolute URL of the `Location` field (RFC 9110 section 10.2.2).
    ///   - hops: the number of redirects that were followed in this attempt.
    package func decide(from current: SourceURL, to location: String, hops: Int) -> Decision {
        if hops >= limit { return .refuse(.tooManyRedirects(limit)) }
        switch SourceURL.parse(location) {
        case .failure(.unsupportedScheme(let scheme)):
            return .refuse(.redirectRefused("to scheme \(scheme)"))
        case .failure(.folder):
            return .refuse(.redirectRefused("to scheme \(location.prefix { $0 != ":" }.lowercased())"))
        case .failure:
            return .refuse(.redirectRefused("to something that is not a URL"))
        case .success(let target):
            guard target.url.isHTTP else { return .refuse(.redirectRefused("to scheme \(target.url.scheme)")) }
            if current.scheme == "https", target.url.scheme != "https" {
                return .refuse(.redirectRefused("from https to http"))
            }
            if schemes?.contains(target.url.scheme) == false {
                return .refuse(.redirectRefused("to scheme \(target.url.scheme)"))
            }
            if let origins, !origins.contains(target.url.origin) {
                return .refuse(.redirectRefused("to another server, \(target.url.origin)"))
            }
            return .follow(target.url, keepsCredentials: target.url.hasOrigin(of: current))
        }
    }
}

extension RedirectPolicy: DocumentObject {
    static let documentFields: [DocumentField<RedirectPolicy>] = [
        DocumentField("limit", \.limit),
        DocumentField("schemes", \.schemes),
    ]
}
