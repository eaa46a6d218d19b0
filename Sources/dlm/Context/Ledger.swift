import DownloadKit

/// Which of the downloads asked for are still going on, here or in other processes, and how the others ended. Pure.
struct Ledger {
    enum Place {
        case here, elsewhere
    }

    /// In this process.
    private(set) var here: Set<DownloadID> = []
    /// Run by other processes.
    private(set) var elsewhere: Set<DownloadID> = []
    /// Of those, the ones that transfer or are about to: worth a look now and then.
    private(set) var atWork: Set<DownloadID> = []
    /// Nobody works on them until somebody resumes them: told once.
    private(set) var standing: Set<DownloadID> = []
    private(set) var completed = 0
    /// Everything that did not complete, ``cancelled`` and ``lost`` ones included.
    private(set) var failed: [DownloadID] = []
    /// Of ``failed``, those that somebody cancelled or removed.
    private(set) var cancelled = 0
    /// Of ``failed``, those that were complete once and whose files are gone or changed since.
    private(set) var lost = 0
    /// Of the complete ones, those that were complete before this command: nothing was fetched for them.
    private(set) var earlier = 0
    /// Of the complete ones, those whose checksum was right.
    private(set) var verified = 0
    /// What those were verified by.
    private(set) var algorithms: Set<Checksum.Algorithm> = []
    /// Of the complete ones, those that the server said are current: nothing was fetched.
    private(set) var current = 0
    /// Bytes of the complete ones.
    private(set) var completedBytes: Int64 = 0
    /// Bytes that came during this command, for complete downloads and for ended ones that are not complete.
    private(set) var fetchedBytes: Int64 = 0
    /// Of ``fetchedBytes``, those of downloads that ended without being complete.
    private(set) var unfinishedBytes: Int64 = 0
    /// Asked for so far; some of them may not be known as downloads yet.
    private(set) var asked = 0
    /// Nothing more will be asked for.
    var hasAll = false
    /// A signal came: everything is about to stop, and what stops is told at the end.
    var isInterrupted = false

    /// Not asked for so far, and something happened to them since the log was opened.
    private(set) var moved: Set<DownloadID> = []
    /// Nothing more is waited for, whatever still goes on.
    var isOver = false

    /// Ended before it was known that they are ours: the event can be faster than the answer to `add`.
    private var early: Set<DownloadID> = []
    private var reported: Set<DownloadID> = []
    private var offsets: [DownloadID: Int64] = [:]
    private var statuses: Set<Int32> = []
    /// Why the last of ``failed`` failed.
    private(set) var lastFailure: DownloadError?

    var isDone: Bool { isOver || hasAll && here.isEmpty && elsewhere.isEmpty }
    var count: Int { here.count + elsewhere.count + completed + failed.count }

    /// 0 when all are complete, the status of the one kind of failure, 1 for several kinds.
    var exitStatus: Int32 { statuses.count > 1 ? 1 : statuses.first ?? 0 }

    /// So many more are about to be asked for.
    mutating func ask(_ count: Int) { asked += count }

    /// More than a person wants to read a line of each of.
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

    /// A download of another process as it was seen.
    mutating func see(_ id: DownloadID, isAtWork: Bool) {
        if isAtWork, elsewhere.contains(id) { atWork.insert(id) } else { atWork.remove(id) }
    }

    /// Something happened to a download that may yet be asked for.
    mutating func move(_ id: DownloadID) {
        if !hasAll { moved.insert(id) }
    }

    /// It goes on without being followed.
    mutating func drop(_ id: DownloadID) {
        elsewhere.remove(id)
        atWork.remove(id)
        standing.remove(id)
        offsets[id] = nil
    }

    /// False when that was known.
    mutating func stand(_ id: DownloadID) -> Bool {
        atWork.remove(id)
        return standing.insert(id).inserted
    }

    /// False when it did not stand still.
    mutating func goOn(_ id: DownloadID) -> Bool { standing.remove(id) != nil }

    /// At most so many downloads of other processes to look at: a look at one is enough to learn that a process died.
    func looks(limit: Int) -> [DownloadID] {
        atWork.isEmpty ? Array(elsewhere.prefix(1)) : Array(atWork.sorted().prefix(limit))
    }

    /// - Parameter offset: bytes that were there before.
    mutating func start(_ id: DownloadID, offset: Int64) {
        if offsets[id] == nil { offsets[id] = offset }
    }

    /// Bytes that were present before: told by the start of our own, seen first of those of other processes.
    mutating func offset(of id: DownloadID, received: Int64) -> Int64 {
        if elsewhere.contains(id) { start(id, offset: received) }
        return offsets[id] ?? 0
    }

    /// False when its end was told before.
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

    /// False when the end of the download was told before.
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

    /// It ended with an error that no record tells.
    mutating func end(_ id: DownloadID, _ error: DownloadError) -> Bool {
        guard leave(id) else { return false }
        if error == .cancelled { cancelled += 1 }
        fail(id, error)
        return true
    }

    /// Something that never became a download went wrong.
    mutating func reject(status: Int32) { statuses.insert(status) }

    private mutating func leave(_ id: DownloadID) -> Bool {
        if here.remove(id) == nil, elsewhere.remove(id) == nil { early.insert(id) }
        atWork.remove(id)
        standing.remove(id)
        return reported.insert(id).inserted
    }
}
