import DownloadKit

/// The record of a command's downloads: those that have not ended, and the results of the others.
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
    private(set) var tally = Tally()
    var failures = Failures()
    /// The number of downloads requested so far. Some of them may have no ids yet.
    var asked = 0
    var hasAll = false {
        didSet { if hasAll { missed = [:] } }
    }
    /// Whether a signal has come. All downloads are about to stop, and are reported at the end.
    var isInterrupted = false

    /// The events that came after the log was opened and before this command requested their downloads.
    private var missed: [DownloadID: [LoggedEvent]] = [:]
    /// Whether the command no longer waits, even if downloads continue.
    var isOver = false

    /// The downloads that ended before their ids were known. Their events may come before the answer to `add`.
    private var early: Set<DownloadID> = []
    private var reported: Set<DownloadID> = []
    private var offsets: [DownloadID: Int64] = [:]

    var isDone: Bool { isOver || hasAll && here.isEmpty && elsewhere.isEmpty }
    var count: Int { here.count + elsewhere.count + tally.completed + failures.count }
    var exitStatus: Int32 { failures.exitStatus }

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
    mutating func miss(_ event: LoggedEvent) {
        if !hasAll { missed[event.id, default: []].append(event) }
    }

    /// Returns the missed events of the downloads that are followed by now, once.
    mutating func takeMissed() -> [DownloadID: [LoggedEvent]] {
        defer { missed = missed.filter { !elsewhere.contains($0.key) } }
        return missed.filter { elsewhere.contains($0.key) }
    }

    /// Stops following a download that has not ended.
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

    /// Returns at most `limit` downloads of other processes to read. If none transfers bytes, one is enough to learn
    /// that its process has died.
    func looks(limit: Int) -> [DownloadID] {
        atWork.isEmpty ? Array(elsewhere.prefix(1)) : Array(atWork.sorted().prefix(limit))
    }

    /// Records that a download has begun, with `offset` bytes on disk.
    mutating func start(_ id: DownloadID, offset: Int64) {
        if offsets[id] == nil { offsets[id] = offset }
    }

    /// Returns the number of bytes that were on disk before; in another process, the number that was seen first.
    mutating func offset(of id: DownloadID, received: Int64) -> Int64 {
        if elsewhere.contains(id) { start(id, offset: received) }
        return offsets[id] ?? 0
    }

    /// Records the end of a download. Returns false if the end was reported before.
    mutating func end(_ ended: EndedDownload) -> Bool {
        let (snapshot, record) = (ended.snapshot, ended.snapshot.record)
        guard leave(record.id) else { return false }
        let offset = offsets.removeValue(forKey: record.id)
        if let failure = ended.failure {
            if !ended.wasComplete {
                tally.fetchUnfinished(offset.map { max(0, snapshot.progress.received.subtracting($0)) } ?? 0)
            }
            failures.add(
                record.id, failure, ended.wasComplete ? .lost : record.state == .cancelled ? .cancelled : .failed)
        } else if ended.wasComplete {
            tally.completeEarlier(snapshot.progress.received)
        } else {
            tally.complete(record, offset: offset)
        }
        return true
    }

    /// Records the end of a small file of this process. Returns false if the end was reported before.
    mutating func end(_ file: SmallFile) -> Bool {
        guard leave(file.id) else { return false }
        offsets[file.id] = nil
        tally.complete(file)
        return true
    }

    /// Records the end of a download with an error that is not in its record.
    mutating func end(_ id: DownloadID, _ error: DownloadError) -> Bool {
        guard leave(id) else { return false }
        failures.add(id, error, error == .cancelled ? .cancelled : .failed)
        return true
    }

    private mutating func leave(_ id: DownloadID) -> Bool {
        if here.remove(id) == nil, elsewhere.remove(id) == nil { early.insert(id) }
        atWork.remove(id)
        standing.remove(id)
        return reported.insert(id).inserted
    }
}

/// The end of a download, as a command reports it.
struct EndedDownload: Sendable {
    let snapshot: DownloadSnapshot
    /// Whether the download was complete before this command began.
    let wasComplete: Bool
    /// The fate of the file of a complete download; nil if there is no file, or if its fate is not known.
    let fate: CompletedFileFate?

    init(_ snapshot: DownloadSnapshot) {
        let hasFile = snapshot.record.state == .completed && snapshot.record.completed?.isStream == false
        (self.snapshot, wasComplete, fate) = (snapshot, false, hasFile ? .there : nil)
    }

    /// Creates the end of a download that was complete before this command began.
    init(before snapshot: DownloadSnapshot, fate: CompletedFileFate?) {
        (self.snapshot, wasComplete, self.fate) = (snapshot, true, fate)
    }

    /// The error; nil if the download is complete and its file is in place, as far as that is known.
    var failure: DownloadError? {
        let record = snapshot.record
        return record.state == .completed ? record.failure(of: fate) : StateText.failure(record.state)
    }
}
