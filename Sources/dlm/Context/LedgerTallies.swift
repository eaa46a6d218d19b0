import DownloadKit

/// The counts of a command's complete downloads, and of the bytes of all its ended downloads.
struct Tally {
    private(set) var completed = 0
    /// The number of downloads that were complete before this command, so that nothing was fetched.
    private(set) var earlier = 0
    /// The number of downloads whose file is still current, so that nothing was fetched.
    private(set) var current = 0
    /// The number of downloads whose checksum was verified.
    private(set) var verified = 0
    /// The algorithms of the verified checksums.
    private(set) var algorithms: Set<Checksum.Algorithm> = []
    /// The number of bytes of the completed downloads.
    private(set) var completedBytes: Int64 = 0
    /// The number of bytes that came during this command, for all ended downloads.
    private(set) var fetchedBytes: Int64 = 0
    /// The number of bytes in ``fetchedBytes`` of downloads that ended incomplete.
    private(set) var unfinishedBytes: Int64 = 0

    /// Counts a download that has become complete.
    /// - Parameter offset: The number of bytes that were on disk before this command; nil if not known.
    mutating func complete(_ record: DownloadRecord, offset: Int64?) {
        completed += 1
        let bytes = record.completed?.bytes ?? 0
        completedBytes = completedBytes.adding(bytes)
        countVerified(record.completed?.checksum)
        if record.completed?.wasCurrent ?? false {
            current += 1
        } else {
            let fetched = offset.map { bytes.subtracting($0) } ?? record.attempts.last?.received ?? 0
            fetchedBytes = fetchedBytes.adding(max(0, fetched))
        }
    }

    /// Counts a small file, all bytes of which came during this command.
    mutating func complete(_ file: SmallFile) {
        completed += 1
        countVerified(file.completed?.checksum)
        completedBytes = completedBytes.adding(file.size)
        fetchedBytes = fetchedBytes.adding(file.size)
    }

    private mutating func countVerified(_ checksum: Checksum?) {
        guard let checksum else { return }
        verified += 1
        algorithms.insert(checksum.algorithm)
    }

    /// Counts a download that was complete before this command.
    mutating func completeEarlier(_ bytes: Int64) {
        completed += 1
        earlier += 1
        completedBytes = completedBytes.adding(bytes)
    }

    /// Counts the bytes of a download that has ended incomplete.
    mutating func fetchUnfinished(_ bytes: Int64) {
        fetchedBytes = fetchedBytes.adding(bytes)
        unfinishedBytes = unfinishedBytes.adding(bytes)
    }
}

/// The downloads of a command that did not complete, and the exit status that follows.
struct Failures {
    /// The reason why a download counts as failed.
    enum Kind {
        case failed
        /// The download was cancelled or removed.
        case cancelled
        /// The download was complete, but its file was deleted or changed afterwards.
        case lost
    }

    /// All downloads that did not complete.
    private(set) var ids: [DownloadID] = []
    private(set) var cancelled = 0
    private(set) var lost = 0
    /// The error of the last download in ``ids``.
    private(set) var last: DownloadError?
    private var statuses: Set<Int32> = []

    var count: Int { ids.count }

    /// The exit status: 0 if all downloads are complete, the status of the only kind of failure, or 1 for several
    /// kinds.
    var exitStatus: Int32 { statuses.count > 1 ? 1 : statuses.first ?? 0 }

    mutating func add(_ id: DownloadID, _ error: DownloadError, _ kind: Kind) {
        ids.append(id)
        last = error
        statuses.insert(error.exitStatus)
        switch kind {
        case .failed: break
        case .cancelled: cancelled += 1
        case .lost: lost += 1
        }
    }

    /// Records the exit status of an input that did not become a download.
    mutating func reject(status: Int32) { statuses.insert(status) }
}
