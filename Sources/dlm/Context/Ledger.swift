import DownloadKit

/// The record of a command's downloads: which of them have not ended, in this process or in others, and how the others
/// ended.
struct Ledger {
    enum Place {
        case here, elsewhere
    }

    /// The downloads in this process.
    private(set) var here: Set<DownloadID> = []
    /// The downloads in other processes.
    private(set) var elsewhere: Set<DownloadID> = []
    /// The downloads of ``elsewhere`` that transfer bytes or are about to. Their progress is read now and then.
    private(set) var atWork: Set<DownloadID> = []
    /// The downloads that are paused until a user resumes them. Each is reported once.
    private(set) var standing: Set<DownloadID> = []
    private(set) var completed = 0
    /// The downloads that did not complete, including those that ``cancelled`` and ``lost`` count.
    private(set) var failed: [DownloadID] = []
    /// The number of downloads in ``failed`` that were cancelled or removed.
    private(set) var cancelled = 0
    /// The number of downloads in ``failed`` that were complete once, and whose files are gone or were changed since.
    private(set) var lost = 0
    /// The number of completed downloads that were complete before this command, so that nothing was fetched.
    private(set) var earlier = 0
    /// The number of completed downloads whose checksum was verified.
    private(set) var verified = 0
    /// The algorithms by which they were verified.
    private(set) var algorithms: Set<Checksum.Algorithm> = []
    /// The number of completed downloads that the server called current, so that nothing was fetched.
    private(set) var current = 0
    /// The number of bytes of the completed downloads.
    private(set) var completedBytes: Int64 = 0
    /// The number of bytes that came during this command, for all ended downloads.
    private(set) var fetchedBytes: Int64 = 0
    /// The number of bytes in ``fetchedBytes`` of downloads that ended incomplete.
    private(set) var unfinishedBytes: Int64 = 0
    /// The number of downloads requested so far. Some of them may have no ids yet.
    private(set) var asked = 0
    /// Whether all downloads of the command were requested.
    var hasAll = false
    /// Whether a signal has come. All downloads are about to stop, and are reported at the end.
    var isInterrupted = false

    /// The downloads with events since the log was opened that this command has not requested, so far.
    private(set) var moved: Set<DownloadID> = []
    /// Whether the command no longer waits, even if downloads continue.
    var isOver = false

    /// The downloads that ended before their ids were known. Their events may come before the answer to `add`.
    private var early: Set<DownloadID> = []
    private var reported: Set<DownloadID> = []
    private var offsets: [DownloadID: Int64] = [:]
    private var statuses: Set<Int32> = []
    /// The error of the last download in ``failed``.
    private(set) var lastFailure: DownloadError?

    var isDone: Bool { isOver || hasAll && here.isEmpty && elsewhere.isEmpty }
    var count: Int { here.count + elsewhere.count + completed + failed.count }

    /// The exit status: 0 if all downloads are complete, the status of the only kind of failure, or 1 for several
    /// kinds.
    var exitStatus: Int32 { statuses.count > 1 ? 1 : statuses.first ?? 0 }

    /// Records that more downloads are about to be requested.
    mutating func ask(_ count: Int) { asked += count }

    /// Whether there are too many downloads to print a line for each.
    var isLong: Bool { max(asked, count) > Self.longest }

    private static let longest = 50

    mutating func expect(_ id: DownloadID, _ place: Place) {
        switch place {
        case .here:
            elsewhere.remove(id)
            atWork.remove(id)
            if early.remove(id) == nil { here.insert(id) }
        case .elsewhere:
            if !here.contains(id), !reported.contains(id) { elsewhere.insert(id) }
        }
    }

    /// Records whether a download of another process transfers bytes.
    mutating func see(_ id: DownloadID, isAtWork: Bool) {
        if isAtWork, elsewhere.contains(id) { atWork.insert(id) } else { atWork.remove(id) }
    }

    /// Records an event of a download that this command may still request.
    mutating func move(_ id: DownloadID) {
        if !hasAll { moved.insert(id) }
    }

    /// Stops following a download that continues.
    mutating func drop(_ id: DownloadID) {
        elsewhere.remove(id)
        atWork.remove(id)
        standing.remove(id)
        offsets[id] = nil
    }

    /// Records that a download is paused until a user resumes it. Returns false if that was known.
    mutating func stand(_ id: DownloadID) -> Bool {
        atWork.remove(id)
        return standing.insert(id).inserted
    }

    /// Records that a paused download continues. Returns false if it was not paused.
    mutating func goOn(_ id: DownloadID) -> Bool { standing.remove(id) != nil }

    /// Returns the downloads of other processes to read, at most `limit`. If none transfers bytes, one is enough to
    /// learn that its process has died.
    func looks(limit: Int) -> [DownloadID] {
        atWork.isEmpty ? Array(elsewhere.prefix(1)) : Array(atWork.sorted().prefix(limit))
    }

    /// Records that a download has begun.
    /// - Parameter offset: The number of bytes that were on disk before.
    mutating func start(_ id: DownloadID, offset: Int64) {
        if offsets[id] == nil { offsets[id] = offset }
    }

    /// Returns the number of bytes that were on disk before. For a download of another process, it is the first number
    /// that was seen.
    mutating func offset(of id: DownloadID, received: Int64) -> Int64 {
        if elsewhere.contains(id) { start(id, offset: received) }
        return offsets[id] ?? 0
    }

    /// Records the end of a download. Returns false if the end was reported before.
    mutating func end(_ snapshot: DownloadSnapshot) -> Bool {
        guard leave(snapshot.id) else { return false }
        let record = snapshot.record
        if record.state == .completed {
            completed += 1
            let bytes = record.completed?.bytes ?? 0
            completedBytes = completedBytes.adding(bytes)
            if let checksum = record.completed?.checksum {
                verified += 1
                algorithms.insert(checksum.algorithm)
            }
            if record.completed?.wasCurrent ?? false {
                current += 1
            } else {
                let fetched = offsets[record.id].map { bytes.subtracting($0) } ?? record.attempts.last?.received ?? 0
                fetchedBytes = fetchedBytes.adding(max(0, fetched))
            }
        } else {
            let fetched = offsets[record.id].map { max(0, snapshot.progress.received.subtracting($0)) } ?? 0
            fetchedBytes = fetchedBytes.adding(fetched)
            unfinishedBytes = unfinishedBytes.adding(fetched)
            if record.state == .cancelled { cancelled += 1 }
            fail(record.id, StateText.failure(record.state))
        }
        offsets[record.id] = nil
        return true
    }

    /// Records a download that was complete before. Returns false if the end was reported before.
    mutating func end(_ before: CompletedBefore) -> Bool {
        guard leave(before.snapshot.id) else { return false }
        if let failure = before.failure {
            lost += 1
            fail(before.snapshot.id, failure)
        } else {
            completed += 1
            earlier += 1
            completedBytes = completedBytes.adding(before.snapshot.progress.received)
        }
        return true
    }

    private mutating func fail(_ id: DownloadID, _ error: DownloadError) {
        failed.append(id)
        lastFailure = error
        statuses.insert(error.exitStatus)
    }

    /// Records the end of a download with an error that is not in its record.
    mutating func end(_ id: DownloadID, _ error: DownloadError) -> Bool {
        guard leave(id) else { return false }
        if error == .cancelled { cancelled += 1 }
        fail(id, error)
        return true
    }

    /// Records the failure of an input that did not become a download.
    mutating func reject(status: Int32) { statuses.insert(status) }

    private mutating func leave(_ id: DownloadID) -> Bool {
        if here.remove(id) == nil, elsewhere.remove(id) == nil { early.insert(id) }
        atWork.remove(id)
        standing.remove(id)
        return reported.insert(id).inserted
    }
}
