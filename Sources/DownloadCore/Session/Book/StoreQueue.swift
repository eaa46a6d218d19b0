/// How far the queue in the store has been read, and whether an answer of the store may be out of date. Pure.
struct StoreQueue {
    /// The last download that was read.
    private(set) var position: QueuePosition?
    /// Downloads may wait in the store that are not in memory.
    private(set) var mayHaveMore = false
    /// Without downloads of these origins, nothing waits in the store that is not in memory.
    private var nothingBeyond: Set<String>?
    /// The store is being asked.
    private var isReading = false
    /// A download was left to the store since it was asked: its answer may lack that download.
    private var wasLeftTo = false
    /// Downloads that ended or were changed since the store was asked: its answer may show them as queued.
    private var departed: Set<DownloadID> = []
    /// Calls that have given the store requests whose secrets are not in memory yet.
    var additions = 0

    /// A download waits in the store and has no place in memory.
    mutating func leaveToStore() {
        mayHaveMore = true
        position = nil
        nothingBeyond = nil
        wasLeftTo = true
    }

    mutating func beginReading() {
        isReading = true
        wasLeftTo = false
        departed = []
    }

    mutating func depart(_ id: DownloadID) {
        if isReading { departed.insert(id) }
    }

    /// The store has answered with the next part of the queue.
    mutating func didRead(_ records: [DownloadRecord], limit: Int) {
        isReading = false
        if wasLeftTo { return }
        mayHaveMore = records.count == limit
        position = mayHaveMore ? records.last.map { QueuePosition(priority: $0.request.priority, id: $0.id) } : nil
    }

    /// The store failed, or was asked for something else than the next part.
    mutating func endReading() { isReading = false }

    /// What the store says of this download is out of date.
    func isOutdated(_ record: DownloadRecord) -> Bool { departed.contains(record.id) }

    /// The call that adds this download has its secrets, and will offer it with them.
    func isBeingAdded(_ record: DownloadRecord) -> Bool { additions > 0 && record.request.hasSecrets }

    // MARK: Beyond busy origins

    func isExhausted(without busy: Set<String>) -> Bool { nothingBeyond?.isSubset(of: busy) ?? false }

    /// The store has nothing new for other origins than these.
    mutating func foundNothing(without busy: Set<String>) {
        if !wasLeftTo { nothingBeyond = busy }
    }
}
