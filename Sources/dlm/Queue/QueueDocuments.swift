import DownloadKit
import DownloadStoragePostgres

/// The numbers of a shared queue (`dlm list --store --json`).
struct QueueDocument: Document, Equatable {
    var version = 1
    var event = "queue"
    let isPaused: Bool
    let queued: Int
    let leased: Int
    let done: Int
    let failed: Int
    let failedForGood: Int
    let bytes: Int64
    let hosts: [QueueCounts.Host]
    let workers: [QueueCounts.Worker]

    init(_ counts: QueueCounts) {
        (isPaused, queued, leased, done) = (counts.isPaused, counts.queued, counts.leased, counts.done)
        (failed, failedForGood, bytes) = (counts.failed, counts.failedForGood, counts.bytes)
        (hosts, workers) = (counts.hosts, counts.workers)
    }

    var lines: [String] {
        let failures = failedForGood == 0 ? "" : " and \(failedForGood) for good"
        var lines = [
            "\(queued) queued, \(leased) leased, \(done) done (\(Units.size(bytes))), \(failed) failed\(failures)"
                + (isPaused ? "; the queue is paused" : "")
        ]
        for host in hosts {
            let paused = host.isPaused ? ", paused" : ""
            lines.append(
                "host \(host.name): \(host.queued) queued, \(host.leased) leased by \(host.workers) workers\(paused)")
        }
        for worker in workers {
            let left = Int(worker.secondsLeft)
            let lease = left < 0 ? "its lease is over" : "its lease ends in \(left) s unless it is renewed"
            lines.append("worker \(worker.id) (\(worker.name)): \(worker.leased) leased; \(lease)")
        }
        return lines
    }
}

/// A URL of a shared queue (`dlm show --store --json`).
struct QueueItemDocument: Document, Equatable {
    var version = 1
    var event = "queueItem"
    let id: Int64
    let url: String
    let state: String
    let attempts: Int
    let worker: String?
    let error: String?
    let result: ManifestEntry?
    let cursor: Int64?

    init(_ item: RecordedItem, cursor: Int64? = nil) {
        self.cursor = cursor
        (id, url, state, attempts) = (item.id, item.url, "\(item.state)", item.attempts)
        (worker, error) = (item.worker, item.error)
        result = item.line.flatMap { try? ManifestEntry(line: $0.utf8) }
    }

    var line: String { "\(id) \(state) \(url)" + (error.map { " (\($0))" } ?? "") }

    var lines: [String] {
        let parts = [
            ("id", "\(id)"), ("url", url), ("state", state), ("attempts", "\(attempts)"), ("worker", worker),
            ("file", result?.path), ("bytes", result.map { "\($0.bytes)" }), ("sha256", result?.sha256),
            ("error", error), ("message", result?.error?.message),
        ].filter { $0.1 != nil }
        let width = parts.map(\.0.count).max() ?? 0
        return parts.map { DisplayWidth.padded($0 + ":", to: width + 2) + ($1 ?? "") }
    }
}
