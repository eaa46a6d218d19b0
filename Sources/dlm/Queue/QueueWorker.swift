import CSystem
import DownloadKit
import DownloadStoragePostgres
import Glibc
import Synchronization

/// The URLs that this process has leased from a shared queue, and the reports about them. A ``WorkerRun`` tells it the
/// results of its downloads. Reports that come while a batch of reports is being sent form the next batch.
final class QueueWorker: Sendable {
    private struct Held {
        let item: LeasedItem
        var hasEnded = false
        /// Whether an abandoned partial file was removed for this item. This happens at most once.
        var wasRestarted = false
    }

    private struct State {
        /// The leased items of the queue by their URLs. An item stays until its report was accepted or refused.
        var held: [String: Held] = [:]
        var again: [LeasedItem] = []
        /// The URL of each download, because the queue does not know the ids of downloads.
        var urls: [DownloadID: String] = [:]
        var pending: [QueueResult] = []
        var task: Task<Void, Never>?
        /// The number of URLs whose reports were accepted or refused.
        var ended = 0
        /// The number of URLs that had been given to other workers.
        var refused = 0
        var isFinished = false
        var end: (reason: String, status: Int32)?
        var sleeper: Task<Void, Never>?
    }

    let queue: URLQueue
    let id: Int64
    private let time: any TimeSource
    private let state = Mutex(State())

    init(_ queue: URLQueue, id: Int64, time: any TimeSource) {
        (self.queue, self.id, self.time) = (queue, id, time)
    }

    var held: Int { state.withLock { $0.held.count } }
    var heldItems: [Int64] { state.withLock { $0.held.values.map(\.item.id) } }
    var ended: Int { state.withLock { $0.ended } }
    var isStopped: Bool { state.withLock { $0.isFinished || $0.end != nil } }

    func leased(_ items: [LeasedItem]) {
        state.withLock { state in for item in items { state.held[item.url] = Held(item: item) } }
    }

    func takeAgain() -> [LeasedItem] {
        state.withLock { state in
            defer { state.again = [] }
            return state.again
        }
    }

    /// Waits for this time, or until reports were answered, a URL must be downloaded again, or the work ends. With
    /// `lowest`, returns at once if at most `lowest` URLs are held or a URL must already be downloaded again.
    func rest(_ seconds: Double, until lowest: Int?) async {
        let sleeper = Task { [time] in _ = try? await time.sleep(for: .seconds(seconds)) }
        state.withLock { state in
            state.sleeper = sleeper
            if let lowest, state.held.count <= lowest || !state.again.isEmpty { sleeper.cancel() }
        }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
    }

    private func wake() { state.withLock { $0.sleeper }?.cancel() }

    /// Ends the work because the worker's lease is over, so that other workers may have leased its URLs.
    func lose() {
        end(
            "the lease is over, because the queue was out of reach for too long; run the same command again",
            WorkerOutcome.tryAgain)
    }

    func fail(_ error: DownloadError) { end(Redaction.describe(error), error.exitStatus) }

    private func end(_ reason: String, _ status: Int32) {
        state.withLock { $0.end = $0.end ?? ("stopped: \(reason)", status) }
        wake()
    }

    var stopReason: String? { state.withLock { $0.end?.reason } }
    /// The exit status that the end of the work requires; nil for none.
    var exitStatus: Int32? { state.withLock { $0.end?.status } }

    /// Returns whether the end of a URL is still expected. A URL may be downloaded again after it was put back.
    func awaits(_ url: String) -> Bool { state.withLock { $0.held[url].map { !$0.hasEnded } ?? false } }

    /// Decides whether a URL whose download has just ended is downloaded again. If it is not, records its end, before
    /// its entry comes through the manifest.
    /// - Returns: whether the URL is downloaded again.
    func restarts(_ url: String, after error: DownloadError?) -> Bool {
        if let path = Self.obstacle(error),
            let held = state.withLock({ $0.held[url] }), !held.wasRestarted, held.item.attempts > 1,
            AbandonedPartial.remove(path, madeAfter: held.item.firstLeased)
        {
            state.withLock { state in
                state.held[url]?.wasRestarted = true
                if let item = state.held[url]?.item { state.again.append(item) }
            }
            wake()
            return true
        }
        state.withLock { $0.held[url]?.hasEnded = true }
        return false
    }

    /// Returns the path of a partial file that another worker may have made, or nil for any other error. Either the
    /// file is where this worker wants to make its partial file. Or it has replaced the partial file that this worker
    /// wrote during an earlier lease.
    private static func obstacle(_ error: DownloadError?) -> String? {
        guard case .fileFailed(let failure, let path) = error else { return nil }
        return failure == .partialExists || failure == .replaced ? path : nil
    }

    /// Records the id and the URL of a download that has begun. ``lost(_:_:)`` needs the URL.
    func began(_ id: DownloadID, _ url: String) { state.withLock { $0.urls[id] = url } }

    func lost(_ id: DownloadID, _ error: DownloadError) {
        guard let url = state.withLock({ $0.urls[id] }) else { return }
        ended([ManifestEntry(rejected: url, error: ManifestEntry.Failure(error), of: nil, at: time.date)])
    }

    /// Handles the ends of downloads. If there is a manifest, the lines of these downloads are already on the disk.
    func ended(_ entries: [ManifestEntry]) {
        state.withLock { state in
            for entry in entries {
                guard let item = state.held[entry.url]?.item else { continue }
                state.held[entry.url]?.hasEnded = true
                state.pending.append(QueueResult(entry, item: item.id))
            }
            if !state.pending.isEmpty, state.task == nil { state.task = Task.detached { [self] in await report() } }
        }
    }

    private func report() async {
        while true {
            let batch = state.withLock { state -> [QueueResult] in
                defer { state.pending = [] }
                if state.pending.isEmpty { state.task = nil }
                return state.pending
            }
            if batch.isEmpty { return }
            do throws(DownloadError) {
                let accepted = try await queue.report(id, batch)
                let ids = Set(batch.map(\.id))
                state.withLock { state in
                    state.held = state.held.filter { !ids.contains($0.value.item.id) || !$0.value.hasEnded }
                    if state.urls.count > 2 * state.held.count + 1000 {
                        state.urls = state.urls.filter { state.held[$0.value] != nil }
                    }
                    state.ended += batch.count
                    state.refused += ids.subtracting(accepted).count
                }
                wake()
            } catch {
                fail(error)
            }
        }
    }

    /// The time in seconds for which ``finish(isHurried:)`` tries to reach the server. Then it gives up.
    private static let lastPatience = 30.0

    /// Returns when everything has been reported. With `isHurried`, a signal is about to end the process.
    func finish(isHurried: Bool) async {
        let isFirst = state.withLock { state in
            defer { state.isFinished = true }
            return !state.isFinished
        }
        wake()
        while let task = state.withLock({ $0.task }) { await task.value }
        guard isFirst else { return }
        do throws(DownloadError) {
            try await queue.endWorker(id, patience: isHurried ? 0 : Self.lastPatience)
        } catch {
            // URLs that are still leased come back to the queue when the lease is over.
        }
    }

    var notice: String? {
        let refused = state.withLock { $0.refused }
        return refused == 0 ? nil : "\(refused) URLs had been given to other workers, which report them"
    }
}

extension QueueResult {
    init(_ entry: ManifestEntry, item: Int64) {
        let error = entry.error
        self.init(
            id: item, state: error == nil ? .done : error?.retryable == true ? .failed : .failedForGood,
            bytes: entry.bytes, error: error.map { "\($0.kind)/\($0.reason)" }, line: entry.json)
    }
}

/// The partial file of a worker that had leased the same URL before, and no longer writes the file.
enum AbandonedPartial {
    /// Deletes a partial file that was made after the first lease of its URL (in seconds since 1970), unless a process
    /// has locked the file. An older file is not from a worker, and its owner may want to continue it.
    /// - Returns: whether the file is gone.
    static func remove(_ path: String, madeAfter time: Double) -> Bool {
        guard path.hasSuffix(".part") else { return false }
        // The file is opened for reading only. Otherwise the process that writes the file would believe that another
        // program writes to it, too.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        guard dlm_lock_exclusive(descriptor) == 0 else { return false }
        // Another worker may have deleted the file meanwhile, and made a new one.
        guard let locked = FileStatus.of(descriptor: descriptor) else { return false }
        guard let named = FileStatus.of(path) else { return errno == ENOENT }
        guard locked.identity == named.identity, locked.device == named.device else { return false }
        // Without a time of birth, nothing proves that a worker made the file.
        guard let born = locked.identity.born, Double(born) / 1e9 > time else { return false }
        return unlink(path) == 0
    }
}
