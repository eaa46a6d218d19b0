/// When a failed attempt is followed by another: data, and a pure rule.
public struct RetryPolicy: Sendable, Equatable {
    /// Attempts after the first one, counted anew after progress.
    public var limit: Int
    /// The first delay in seconds; it doubles each time.
    public var delay: Double
    /// The longest delay in seconds.
    public var maximumDelay: Double
    /// Answers that are repeated besides those that are in any case.
    public var statuses: StatusCodes?

    /// Makes a policy.
    public init(limit: Int = 5, delay: Double = 1, maximumDelay: Double = 60, statuses: StatusCodes? = nil) {
        self.limit = limit
        self.delay = delay
        self.maximumDelay = maximumDelay
        self.statuses = statuses
    }

    /// An attempt that brought so many bytes is no part of a series of failures.
    package static let progressThatForgets: Int64 = 64 << 10

    package enum Decision: Equatable, Sendable {
        case retry(after: Double)
        case giveUp
    }

    /// - Parameters:
    ///   - failures: attempts that failed in a row before this one.
    ///   - retryAfter: what the server asked for, in seconds.
    ///   - jitter: a random number from 0 to 1: delays are drawn from the upper half of their span, so that many
    ///     clients do not come back in step.
    ///   - isHopeful: it may succeed whatever this error was: another source may.
    package func decide(
        _ error: DownloadError, failures: Int, retryAfter: Double?, jitter: Double, isHopeful: Bool = false
    ) -> Decision {
        guard isHopeful || repeats(error), failures < limit else { return .giveUp }
        let span = min(maximumDelay, delay * Double(1 << min(failures, 30)))
        return .retry(after: max(span * (0.5 + 0.5 * jitter), retryAfter ?? 0))
    }

    /// Another attempt may succeed, or somebody knows that it does.
    func repeats(_ error: DownloadError) -> Bool {
        error.isTransient || error.httpStatus.map { statuses?.contains($0) ?? false } ?? false
    }
}

extension RetryPolicy: DocumentObject {
    static let documentFields: [DocumentField<RetryPolicy>] = [
        DocumentField("limit", \.limit, isAlwaysWritten: true),
        DocumentField("delay", \.delay, isAlwaysWritten: true),
        DocumentField("maximumDelay", \.maximumDelay, isAlwaysWritten: true),
        DocumentField("statuses", \.statuses),
    ]
}
