/// A type that changes the requests of a session before they are sent, for example to add a token that expires. The
/// counterpart of Alamofire's `RequestAdapter`.
public protocol RequestAdapter: Sendable {
    /// Returns the request for the next attempt of a download.
    ///
    /// The session calls this method before each attempt, with the request of the last attempt. A session that runs in
    /// another process cannot call the adapter. Then the method is called once, when the download is added.
    /// - Throws: An error that ends the download.
    func adapt(_ request: DownloadRequest) async throws -> DownloadRequest
}

/// A type that decides whether another attempt follows a failed attempt. The counterpart of Alamofire's
/// `RequestRetrier`. A session that runs in another process cannot call the retrier, and uses the request's
/// ``DownloadRequest/retry`` policy.
public protocol RequestRetrier: Sendable {
    /// Returns what follows a failed attempt.
    /// - Parameter download: The download after the attempt. ``DownloadSnapshot/attempts`` has its history.
    func retry(_ download: DownloadSnapshot, dueTo error: DownloadError) async -> RetryDecision
}

/// The decision after a failed attempt.
public enum RetryDecision: Sendable, Equatable {
    /// Another attempt after a delay, whatever the policy of the request says.
    case retry(after: Duration)
    /// The download fails.
    case doNotRetry
    /// The request's ``DownloadRequest/retry`` policy decides.
    case usePolicy
}
