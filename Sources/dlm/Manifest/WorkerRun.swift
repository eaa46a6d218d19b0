import DownloadKit
import Synchronization

/// What a run of `get` keeps for its engine besides the downloads: the manifest, and how many failed.
final class WorkerRun: Sendable {
    private let manifest: ManifestWriter?
    private let index: ManifestIndex
    private let rule: ManifestRule
    private let filter: ShardFilter?
    private let time: any TimeSource
    private let outcome: Mutex<WorkerOutcome>

    /// - Parameter index: what the manifest said before this run.
    init(
        _ manifest: ManifestWriter?, _ index: ManifestIndex, _ rule: ManifestRule, _ filter: ShardFilter?,
        limit: WorkerOutcome.FailureLimit?, time: any TimeSource
    ) {
        self.manifest = manifest
        self.index = index
        self.rule = rule
        self.filter = filter
        self.time = time
        outcome = Mutex(WorkerOutcome(limit: limit))
    }

    // MARK: Before

    /// Returns the requests that are not left out by the manifest.
    func selected(_ requests: [DownloadRequest]) throws -> [DownloadRequest] {
        if index.count == 0 { return requests }
        return try requests.filter { request in
            guard let entry = try index.entry(for: request.url.string) else { return true }
            let file = entry.path.flatMap { FileStatus.of($0) }
            let size = file.flatMap { $0.isRegular ? $0.size : nil }
            guard rule.leavesOut(entry, request, size: size) else { return true }
            outcome.withLock { $0.leaveOut(entry) }
            return false
        }
    }

    // MARK: Ends

    func ended(_ snapshot: DownloadSnapshot, error: DownloadError?) {
        outcome.withLock { $0.end(isRetryable: error?.isWorthAnotherRun) }
        manifest?.append(ManifestEntry(snapshot, error: error, of: filter, at: time.date))
    }

    /// Something ended of which no record is known any more.
    func lost(_ error: DownloadError) { outcome.withLock { $0.end(isRetryable: error.isWorthAnotherRun) } }

    func rejected(_ document: RejectedDocument) {
        let isRetryable = [1, 3, 4, 12].contains(document.exitStatus)
        outcome.withLock { $0.end(isRetryable: isRetryable) }
        guard let url = document.url else { return }
        let failure = ManifestEntry.Failure(
            kind: "request", reason: "rejected", message: document.message, retryable: isRetryable)
        manifest?.append(ManifestEntry(rejected: url, error: failure, of: filter, at: time.date))
    }

    /// Why nothing more is to be done; nil while all is well.
    var stopReason: String? {
        if let failure = manifest?.failure { return "stopped: \(Redaction.describe(failure))" }
        let outcome = outcome.withLock { $0 }
        guard outcome.isOverLimit else { return nil }
        return "stopped: \(outcome.failed) of \(outcome.ended) downloads failed, more than --max-failures allows; "
            + "run the same command again for the others"
    }

    /// Returns when the manifest is on the disk.
    /// - Parameter isHurried: the process is about to be ended by a signal.
    func finish(isHurried: Bool = false) async {
        if isHurried { manifest?.hurry() }
        await manifest?.finish()
    }

    /// The status of the command, whose downloads alone would have the `usual` one.
    func exitStatus(_ usual: Int32) -> Int32 {
        manifest?.failure?.exitStatus ?? outcome.withLock { $0.exitStatus(usual, hasManifest: manifest != nil) }
    }

    /// What was left out, for people; nil if nothing was.
    var notice: String? {
        let outcome = outcome.withLock { $0 }
        let parts = [(outcome.leftOut, "done"), (outcome.leftOutFailed, "failed for good")].filter { $0.0 > 0 }
        if parts.isEmpty { return nil }
        return "left out by the manifest: " + parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
            + (outcome.leftOutFailed > 0 ? "; --retry-failed tries them again" : "")
    }
}
