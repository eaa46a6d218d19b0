/// The rules for another attempt after a failed one.
public struct RetryPolicy: Sendable, Equatable {
    /// The number of attempts after the first one. The count begins again after progress.
    public var limit: Int
    /// The longest first delay. It doubles each time. The delay is a random time in the upper half of it.
    public var delay: Duration
    /// The longest delay, unless the server asks for a longer one.
    public var maximumDelay: Duration
    /// The longest time for which one answer with `Retry-After` keeps other downloads from the same server.
    public var maximumHostPause: Duration
    /// The status codes after which the request is repeated, in addition to those after which dlm always repeats it.
    public var statuses: StatusCodes?

    /// Creates a policy.
    public init(
        limit: Int = 5, delay: Duration = .seconds(1), maximumDelay: Duration = .seconds(60),
        maximumHostPause: Duration = .seconds(600), statuses: StatusCodes? = nil
    ) {
        self.limit = limit
        self.delay = delay
        self.maximumDelay = maximumDelay
        self.maximumHostPause = maximumHostPause
        self.statuses = statuses
    }

    /// The number of bytes after which an attempt counts as progress, so that the count of failures begins again.
    package static let progressThatForgets: Int64 = 64 << 10

    package enum Decision: Equatable, Sendable {
        case retry(after: Double)
        case giveUp
    }

    /// - Parameters:
    ///   - failures: the number of attempts in a row that failed before this one.
    ///   - retryAfter: the pause that the server asked for, in seconds.
    ///   - jitter: a random number from 0 to 1. It selects a delay in the upper half of the possible delays, so that
    ///     many clients do not return at the same time.
    ///   - isHopeful: whether another attempt may succeed after any error, because it uses another source.
    package func decide(
        _ error: DownloadError, failures: Int, retryAfter: Double?, jitter: Double, isHopeful: Bool = false
    ) -> Decision {
        guard isHopeful || repeats(error), failures < limit else { return .giveUp }
        let span = min(maximumDelay.inSeconds, delay.inSeconds * Double(1 << min(failures, 30)))
        return .retry(after: max(span * (0.5 + 0.5 * jitter), retryAfter ?? 0))
    }

    /// Returns whether another attempt may succeed, or the user has listed the status code.
    package func repeats(_ error: DownloadError) -> Bool {
        error.isTransient || error.httpStatus.map { statuses?.contains($0) ?? false } ?? false
    }
}

extension RetryPolicy: DocumentObject {
    static let documentFields: [DocumentField<RetryPolicy>] = [
        DocumentField("limit", \.limit),
        DocumentField("delay", \.delay.inSeconds),
        DocumentField("maximumDelay", \.maximumDelay.inSeconds),
        DocumentField("maximumHostPause", \.maximumHostPause.inSeconds),
        DocumentField("statuses", \.statuses),
    ]
}
