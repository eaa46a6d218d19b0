/// Changes the requests of a session before they are sent, as Alamofire's protocol of this name does: to add a token that
/// expires, for example.
public protocol RequestAdapter: Sendable {
    /// Returns the request for the next attempt of a download.
    ///
    /// The session asks before each attempt, with the request as the last attempt had it. A session that runs in another
    /// process cannot ask; then the adapter is asked once, when the download is added.
    /// - Throws: an error that ends the download.
    func adapt(_ request: DownloadRequest) async throws -> DownloadRequest
}

/// Decides whether a failed attempt is followed by another one, as Alamofire's protocol of this name does. A session that
/// runs in another process cannot ask, and goes by the request's ``DownloadRequest/retry`` policy.
public protocol RequestRetrier: Sendable {
    /// Returns what follows a failed attempt.
    /// - Parameter download: the download as the attempt left it; ``DownloadSnapshot/attempts`` has its history.
    func retry(_ download: DownloadSnapshot, dueTo error: DownloadError) async -> RetryDecision
}

/// What follows a failed attempt.
public enum RetryDecision: Sendable, Equatable {
    /// Another attempt after so many seconds, whatever the policy of the request says.
    case retry(after: Double)
    /// The download fails.
    case doNotRetry
    /// The request's ``DownloadRequest/retry`` policy decides.
    case usePolicy
}

extension RequestRetrier {
    /// Nil when the attempt did not fail.
    func decision(after outcome: AttemptTask.Outcome, of record: DownloadRecord) async -> RetryDecision? {
        switch outcome {
        case .failed(let error, _), .renewed(let error):
            await retry(DownloadSnapshot(record: record), dueTo: error)
        case .completed, .stopped: nil
        }
    }
}
