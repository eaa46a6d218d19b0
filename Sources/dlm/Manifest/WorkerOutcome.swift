import DownloadKit

/// How the URLs of a run ended, for the engine that started it. Pure.
struct WorkerOutcome: Equatable, Sendable {
    /// The number of failures after which a run stops.
    enum FailureLimit: Equatable, Sendable {
        case number(Int)
        /// Of the downloads that have ended, once 100 have.
        case percent(Double)
    }

    /// Another run may do what failed.
    static let tryAgain: Int32 = 75
    /// All that can be done is done; some URLs fail whenever they are tried.
    static let someNeverWork: Int32 = 65
    /// More downloads failed than the limit allows.
    static let tooManyFailures: Int32 = 69

    private(set) var ended = 0
    private(set) var failed = 0
    /// Failures that another run may not have, and those that it will.
    private(set) var retryable = 0
    private(set) var permanent = 0
    /// Left out because the manifest says that they are done.
    private(set) var leftOut = 0
    /// Left out because the manifest says that they failed for good.
    private(set) var leftOutFailed = 0
    let limit: FailureLimit?

    init(limit: FailureLimit? = nil) { self.limit = limit }

    /// Downloads that must have ended before a percentage means anything.
    private static let fewest = 100

    /// - Parameter isRetryable: nil for a success.
    mutating func end(isRetryable: Bool?) {
        ended += 1
        guard let isRetryable else { return }
        failed += 1
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

    /// - Parameter usual: the status without a manifest.
    func exitStatus(_ usual: Int32, hasManifest: Bool) -> Int32 {
        if isOverLimit { return Self.tooManyFailures }
        guard hasManifest else { return usual }
        if retryable > 0 { return Self.tryAgain }
        return permanent + leftOutFailed > 0 ? Self.someNeverWork : usual
    }
}
