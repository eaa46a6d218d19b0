import DownloadKit
import Synchronization

/// The data of a run of `get` for the workflow engine that started the run: the manifest, and the numbers of failures.
final class WorkerRun: Sendable {
    private let manifest: ManifestWriter?
    private let index: ManifestIndex
    private let rule: ManifestRule
    private let filter: ShardFilter?
    /// The shared queue of the run; nil if its URLs come from elsewhere.
    private let receiver: QueueWorker?
    private let time: any TimeSource
    private let outcome: Mutex<WorkerOutcome>

    /// - Parameter hashes: Whether the manifest gets the SHA-256 digests of all files.
    init(
        manifest path: String?, hashes: Bool, _ rule: ManifestRule, _ filter: ShardFilter? = nil,
        limit: WorkerOutcome.FailureLimit?, receiver: QueueWorker? = nil, time: any TimeSource
    ) throws {
        var index = ManifestIndex()
        manifest = try path.map { try ManifestWriter($0, hashes: hashes) { receiver?.ended($0) } }
        if let path {
            try index.add(ManifestFile(path))
            if index.strangers > 0 { throw DownloadError.noManifest(path, "\(index.strangers) lines have no URL") }
        }
        self.index = index
        self.rule = rule
        self.filter = filter
        self.receiver = receiver
        self.time = time
        outcome = Mutex(WorkerOutcome(limit: limit))
    }

    func selected(_ requests: RequestList) throws -> RequestList {
        if manifest == nil, receiver == nil { return requests }
        var selected = RequestList()
        for var request in requests where try !isLeftOut(request) {
            request.keepsCompleted = request.destination.ifExists != .newer
            selected.append(request)
        }
        return selected
    }

    private func isLeftOut(_ request: DownloadRequest) throws -> Bool {
        guard index.count > 0, let entry = try index.entry(for: request.url.string) else { return false }
        let file = entry.path.flatMap { FileStatus.of($0) }
        let size = file.flatMap { $0.isRegular ? $0.size : nil }
        guard rule.leavesOut(entry, request, size: size) else { return false }
        outcome.withLock { $0.leaveOut(entry) }
        receiver?.ended([entry])
        return true
    }

    func began(_ requests: RequestList, _ added: [AddedDownload]) {
        guard let receiver else { return }
        for (request, download) in zip(requests, added) { receiver.began(download.id, request.url.string) }
    }

    /// Whether a shared queue still expects the end of a download. The same download can end several times in a run.
    func awaits(_ snapshot: DownloadSnapshot) -> Bool {
        receiver?.awaits(snapshot.record.request.url.string) ?? false
    }

    func ended(_ snapshot: DownloadSnapshot, error: DownloadError?) {
        if receiver?.restarts(snapshot.record.request.url.string, after: error) ?? false { return }
        outcome.withLock { $0.end(isRetryable: error?.isWorthAnotherRun) }
        record(ManifestEntry(snapshot, error: error, of: filter, at: time.date))
    }

    private func record(_ entry: ManifestEntry) {
        if let manifest { manifest.append(entry) } else { receiver?.ended([entry]) }
    }

    /// Records the end of a download that was removed from the store.
    func lost(_ id: DownloadID, _ error: DownloadError) {
        outcome.withLock { $0.end(isRetryable: error.isWorthAnotherRun) }
        receiver?.lost(id, error)
    }

    /// Records a line of the list that did not become a download. If the manifest already has the line as failed for
    /// good, the line is only counted as left out, so that not each run adds an entry.
    func rejected(_ document: RejectedDocument) {
        if let url = document.url, let entry = try? index.entry(for: url), rule.leavesOutFailed(entry) {
            return outcome.withLock { $0.leaveOut(entry) }
        }
        let isRetryable = [1, 3, 4, 12].contains(document.exitStatus)
        outcome.withLock { $0.end(isRetryable: isRetryable) }
        guard let url = document.url else { return }
        let failure = ManifestEntry.Failure(rejected: document.message, retryable: isRetryable)
        record(ManifestEntry(rejected: url, error: failure, of: filter, at: time.date))
    }

    var stopReason: String? {
        if let failure = manifest?.failure { return "stopped: \(Redaction.describe(failure))" }
        if let reason = receiver?.stopReason { return reason }
        let outcome = outcome.withLock { $0 }
        guard outcome.isOverLimit else { return nil }
        return "stopped: \(outcome.failed) of \(outcome.ended) downloads failed, more than --max-failures allows; "
            + "run the same command again for the other downloads"
    }

    /// Waits until the manifest is on the disk. With `isHurried`, a signal is about to end the process.
    func finish(isHurried: Bool = false) async {
        if isHurried { manifest?.hurry() }
        await manifest?.finish()
        await receiver?.finish(isHurried: isHurried)
    }

    /// - Parameter usual: The exit status without a manifest, a shared queue and `--max-failures`.
    func exitStatus(_ usual: Int32) -> Int32 {
        if let status = manifest?.failure?.exitStatus ?? receiver?.exitStatus { return status }
        // A URL of a queue may have failed first and succeeded in the end.
        if receiver != nil { return outcome.withLock { $0.exitStatus(0, hasManifest: true) } }
        return outcome.withLock { $0.exitStatus(usual, hasManifest: manifest != nil) }
    }

    var notice: String? {
        let outcome = outcome.withLock { $0 }
        let parts = [(outcome.leftOut, "done"), (outcome.leftOutFailed, "failed for good")].filter { $0.0 > 0 }
        if parts.isEmpty { return nil }
        return "left out by the manifest: " + parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
            + (outcome.leftOutFailed > 0 ? "; --retry-failed tries them again" : "")
    }
}

/// The rule that decides whether a URL is left out because of its entry in the manifest.
struct ManifestRule: Equatable, Sendable {
    /// Whether URLs that failed for good are downloaded again (`--retry-failed`).
    var retriesFailed = false

    /// - Parameter size: The size of the file at the path of the entry; nil if there is no regular file.
    func leavesOut(_ entry: ManifestEntry, _ request: DownloadRequest, size: Int64?) -> Bool {
        switch entry.status {
        case .failed: return leavesOutFailed(entry)
        case .done:
            // With `newer`, the server must be asked whether its file is newer.
            guard request.destination.ifExists != .newer, let path = entry.path else { return false }
            return size == entry.bytes && isPlace(path, of: request.destination)
        }
    }

    func leavesOutFailed(_ entry: ManifestEntry) -> Bool {
        entry.status == .failed && !retriesFailed && entry.error?.retryable == false
    }

    /// Returns whether a path is a place where this command could save the file.
    private func isPlace(_ path: String, of destination: Destination) -> Bool {
        let name = FileNaming.lastComponent(path)
        let isNamed = destination.fileName.map { $0 == name || destination.ifExists == .rename } ?? true
        return isNamed && FileNaming.isPath(path, of: name, in: destination.folder)
    }
}
