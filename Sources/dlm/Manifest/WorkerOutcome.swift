/// The result of a run of `get`, for the workflow engine that started the run: the numbers of successes and failures.
struct WorkerOutcome: Equatable, Sendable {
    /// The number of failures that are allowed. A run with more failures stops.
    enum FailureLimit: Equatable, Sendable {
        case number(Int)
        /// A percentage of the downloads that have ended. It is checked only when at least 100 downloads have ended.
        case percent(Double)
    }

    /// The exit status if another run may succeed.
    static let tryAgain: Int32 = 75
    /// The exit status if some URLs have failed for good, and everything else is done.
    static let someNeverWork: Int32 = 65
    /// The exit status if more downloads failed than the limit allows.
    static let tooManyFailures: Int32 = 69

    private(set) var ended = 0
    /// The number of failed downloads that may succeed in another run.
    private(set) var retryable = 0
    private(set) var permanent = 0
    /// The number of URLs that were left out because the manifest says that they are done.
    private(set) var leftOut = 0
    /// The number of URLs that were left out because the manifest says that they failed for good.
    private(set) var leftOutFailed = 0
    let limit: FailureLimit?
    var failed: Int { retryable + permanent }

    init(limit: FailureLimit? = nil) { self.limit = limit }

    private static let fewest = 100

    /// - Parameter isRetryable: Whether another run may succeed after this failure; nil if the download succeeded.
    mutating func end(isRetryable: Bool?) {
        ended += 1
        guard let isRetryable else { return }
        if isRetryable { retryable += 1 } else { permanent += 1 }
    }

    mutating func leaveOut(_ entry: ManifestEntry) {
        if entry.status == .done { leftOut += 1 } else { leftOutFailed += 1 }
    }

    var isOverLimit: Bool {
        switch limit {
        case .number(let most): failed > most
        case .percent(let most): ended >= Self.fewest && Double(failed) * 100 > Double(ended) * most
        case nil: false
        }
    }

    /// - Parameter usual: the exit status without a manifest.
    func exitStatus(_ usual: Int32, hasManifest: Bool) -> Int32 {
        if isOverLimit { return Self.tooManyFailures }
        guard hasManifest else { return usual }
        if retryable > 0 { return Self.tryAgain }
        return permanent + leftOutFailed > 0 ? Self.someNeverWork : usual
    }
}
