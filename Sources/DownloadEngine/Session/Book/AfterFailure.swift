import DownloadCore

/// A failed attempt, with the facts that decide what follows.
struct FailedAttempt {
    let error: DownloadError
    var pause: ServerPause?
    /// Whether the download has got a new URL since the failure.
    var isRenewed = false
    /// The number of attempts that failed in a row before this one.
    var failures = 0
    /// The moment at which the time limit of the request ends.
    var deadline: ContinuousClock.Instant?
    /// The decision of the session's retrier.
    var decision = RetryDecision.usePolicy

    /// Returns whether another attempt would follow this one, if the limit for attempts allows it.
    func isRepeated(_ policy: RetryPolicy) -> Bool {
        switch decision {
        case .retry: true
        case .doNotRetry: false
        case .usePolicy: isRenewed || policy.repeats(error)
        }
    }
}

/// The decision that follows a failed attempt.
enum AfterFailure: Equatable {
    case fail(DownloadError)
    /// Another attempt after a delay in seconds, with the number of failures in a row that counts from then on.
    case retry(after: Double, failures: Int)
    /// Another attempt when this machine's network is back. The failure does not count.
    case network(failures: Int)

    /// Decides what follows a failed attempt.
    /// - Parameter record: The record of the download. If another source is used next, that source is entered in the
    ///   record.
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
            if let deadline = failed.deadline, now + delay >= deadline {
                return .fail(.overdue(request, last: error))
            }
            // A date cannot hold every duration.
            return .retry(after: min(delay.inSeconds, 1e9), failures: failures + 1)
        case .usePolicy: break
        }
        guard request.mayBeSentAgain(after: error) else { return .fail(error) }
        // If the user wants no retries, every failure is reported.
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

extension Scheduler.Pause {
    /// Makes the pause that follows a failed attempt. Nil if the server asked for none, or not for all of its files.
    init?(after failed: FailedAttempt, of record: DownloadRecord, _ next: AfterFailure, now: ContinuousClock.Instant) {
        guard let pause = failed.pause, pause.isForOrigin, pause.origin == record.source.origin,
            let status = failed.error.httpStatus
        else { return nil }
        end = now + .seconds(min(pause.seconds, record.request.retry.maximumHostPause.inSeconds))
        self.status = status
        // A download that has failed for good waits for nothing, so its removal does not end the pause.
        if case .retry = next { causes = [record.id] } else { causes = [] }
    }
}
