import Foundation

/// An attempt that failed, and what is known about that.
struct FailedAttempt {
    let error: DownloadError
    /// The pause that the server asked for.
    var pause: ServerPause?
    /// There is a new link for it by now.
    var isRenewed = false
    /// Attempts that failed in a row before it.
    var failures = 0
    /// When the time that the request gives the download is over.
    var deadline: ContinuousClock.Instant?
    /// What the session's retrier decided.
    var decision = RetryDecision.usePolicy

    /// Whether another attempt would follow it.
    func isRepeated(_ policy: RetryPolicy) -> Bool {
        switch decision {
        case .retry: true
        case .doNotRetry: false
        case .usePolicy: isRenewed || policy.repeats(error)
        }
    }
}

/// The decision that follows a failed attempt. Pure.
enum AfterFailure: Equatable {
    case fail(DownloadError)
    /// Another attempt after so many seconds, with the number of failures that count then.
    case retry(after: Double, failures: Int)
    /// Another attempt when this machine's network is back, which counts as no failure.
    case network(failures: Int)

    /// - Parameter record: says afterwards which source is next.
    static func decide(
        _ record: inout DownloadRecord, _ failed: FailedAttempt, now: ContinuousClock.Instant,
        isNetworkDown: () -> Bool
    ) -> AfterFailure {
        let (error, request) = (failed.error, record.request)
        let progressed = (record.attempts.last?.received ?? 0) >= RetryPolicy.progressThatForgets
        let failures = progressed ? 0 : failed.failures
        switch failed.decision {
        case .doNotRetry: return .fail(error)
        case .retry(let delay):
            if let deadline = failed.deadline, now + .seconds(delay) >= deadline {
                return .fail(.overdue(request, last: error))
            }
            return .retry(after: delay, failures: failures + 1)
        case .usePolicy: break
        }
        guard request.mayBeSentAgain(after: error) else { return .fail(error) }
        // Whoever wants no retries is told of every failure.
        if case .networkFailed(let failure, _) = error, request.retry.limit > 0, failure != .timeLimit {
            if isNetworkDown() { return .network(failures: failures) }
            if failure == .networkChanged { return .retry(after: 0, failures: failures) }
        }
        if failed.isRenewed, failures < request.retry.limit { return .retry(after: 0, failures: failures + 1) }
        let turn = record.turn(after: error, repeats: request.retry.repeats(error))
        guard case .retry(let delay) = turn.decide(request, error, failures, failed.pause) else { return .fail(error) }
        if let deadline = failed.deadline, now + .seconds(delay) >= deadline {
            return .fail(.overdue(request, last: error))
        }
        return .retry(after: delay, failures: turn == .next ? failures : failures + 1)
    }
}
