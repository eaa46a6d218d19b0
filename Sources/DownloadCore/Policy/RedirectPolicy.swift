/// Which redirects are followed. Pure data; the rule is ``decide(from:to:hops:)``.
public struct RedirectPolicy: Codable, Sendable, Equatable {
    /// Redirects in one attempt, as curl's `--max-redirs` counts them.
    public var limit: Int

    public init(limit: Int = 20) { self.limit = limit }

    public enum Decision: Equatable, Sendable {
        /// Credentials and the user's own header fields go along only within one origin.
        case follow(SourceURL, keepsCredentials: Bool)
        case refuse(ProtocolFailure)
    }

    /// - Parameters:
    ///   - location: the absolute URL that the `Location` field names (RFC 9110 section 10.2.2).
    ///   - hops: the redirects already followed in this attempt.
    public func decide(from current: SourceURL, to location: String, hops: Int) -> Decision {
        if hops >= limit { return .refuse(.tooManyRedirects(limit)) }
        switch SourceURL.parse(location) {
        case .failure(.unsupportedScheme(let scheme)):
            return .refuse(.redirectRefused("to scheme \(scheme)"))
        case .failure:
            return .refuse(.redirectRefused("to something that is no URL"))
        case .success(let target):
            if current.scheme == "https", target.url.scheme != "https" {
                return .refuse(.redirectRefused("from https to http"))
            }
            return .follow(target.url, keepsCredentials: target.url.origin == current.origin)
        }
    }
}
