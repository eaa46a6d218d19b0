/// The state of reading the queue in the store: how far it was read, and which answers of the store may be out of date.
/// It is a value and has no side effects.
struct StoreQueue {
    /// The position of the last download that was read.
    private(set) var position: QueuePosition?
    /// Whether downloads that are not in memory may wait in the store.
    private(set) var mayHaveMore = false
    /// A set of origins to which all waiting downloads belong that are only in the store; nil if no such set is known.
    private var nothingBeyond: Set<String>?
    /// Whether the store is being asked.
    private var isReading = false
    /// Whether a download was left to the store since the store was asked. The answer may lack that download.
    private var wasLeftTo = false
    /// The downloads that ended or were changed since the store was asked. The answer may show them as queued.
    private var departed: Set<DownloadID> = []
    /// The number of calls that have added requests to the store and have not yet put the secrets of these requests
    /// into memory.
    var additions = 0

    /// Records that a download waits in the store and has no place in memory.
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

    /// Handles the store's answer with the next part of the queue.
    mutating func didRead(_ records: [DownloadRecord], limit: Int) {
        isReading = false
        if wasLeftTo { return }
        mayHaveMore = records.count == limit
        position = mayHaveMore ? records.last.map { QueuePosition(priority: $0.request.priority, id: $0.id) } : nil
    }

    /// Records that the store failed, or was asked for something other than the next part.
    mutating func endReading() { isReading = false }

    /// Returns whether the store's answer about this download is out of date.
    func isOutdated(_ record: DownloadRecord) -> Bool { departed.contains(record.id) }

    /// Returns whether the call that adds this download has its secrets, and will offer it with them.
    func isBeingAdded(_ record: DownloadRecord) -> Bool { additions > 0 && record.request.hasSecrets }

    // MARK: Beyond busy origins

    func isExhausted(without busy: Set<String>) -> Bool { nothingBeyond?.isSubset(of: busy) ?? false }

    /// Records that the store has no new downloads of other origins than the busy ones.
    mutating func foundNothing(without busy: Set<String>) {
        if !wasLeftTo { nothingBeyond = busy }
    }
}
