import DownloadKit

/// The counts of a command's complete downloads, and of the bytes of all its ended downloads.
struct Tally {
    private(set) var completed = 0
    /// The number of downloads that were complete before this command, so that nothing was fetched.
    private(set) var earlier = 0
    /// The number of downloads whose file is still current, so that nothing was fetched.
    private(set) var current = 0
    private(set) var verified = 0
    private(set) var algorithms: Set<Checksum.Algorithm> = []
    private(set) var completedBytes: Int64 = 0
    /// The number of bytes that came during this command, for all ended downloads.
    private(set) var fetchedBytes: Int64 = 0
    /// The number of bytes in ``fetchedBytes`` of downloads that ended incomplete.
    private(set) var unfinishedBytes: Int64 = 0

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

    mutating func completeEarlier(_ bytes: Int64) {
        completed += 1
        earlier += 1
        completedBytes = completedBytes.adding(bytes)
    }

    mutating func fetchUnfinished(_ bytes: Int64) {
        fetchedBytes = fetchedBytes.adding(bytes)
        unfinishedBytes = unfinishedBytes.adding(bytes)
    }
}

/// The downloads of a command that did not complete, and the exit status that follows.
struct Failures {
    enum Kind {
        case failed
        case cancelled
        /// The download was complete, but its file was deleted or changed afterwards.
        case lost
    }

    private(set) var ids: [DownloadID] = []
    private(set) var cancelled = 0
    private(set) var lost = 0
    private(set) var last: DownloadError?
    private var statuses: Set<Int32> = []

    var count: Int { ids.count }

    var exitStatus: Int32 { statuses.exitStatus }

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

    mutating func reject(status: Int32) { statuses.insert(status) }
}

extension Set<Int32> {
    /// The exit status for failures: 0 for none, the status of the only kind, or 1 for several kinds.
    var exitStatus: Int32 { count > 1 ? 1 : first ?? 0 }
}
