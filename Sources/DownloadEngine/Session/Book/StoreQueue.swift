import DownloadCore

/// The state of reading the queue in the store: how far it was read, and which answers of the store may be out of date.
/// It is a value and has no side effects.
struct StoreQueue {
    /// The position of the last download that was read.
    private(set) var position: QueuePosition?
    /// Whether downloads that are not in memory may wait in the store.
    private(set) var mayHaveMore = false
    /// A set of origins. Each waiting download that is only in the store belongs to one of them. Nil if no such set is
    /// known.
    private var nothingBeyond: Set<String>?
    private var isReading = false
    /// Whether a download was left to the store since the store was asked. The answer may lack that download.
    private var wasLeftTo = false
    /// The downloads that ended or were changed while the store was being asked. Its answers may show them as queued.
    private var departed: Set<DownloadID> = []
    /// The number of calls in progress that queue downloads in the store and then put them into memory. The queue is not
    /// read meanwhile. Otherwise a download could begin, and even end, before the answer to its addition comes.
    var additions = 0 { didSet { if oldValue == 0, !isReading { departed = [] } } }

    /// Whether reading the queue may bring downloads that are not in memory.
    var isReadable: Bool { mayHaveMore && additions == 0 }

    /// Records that a download waits in the store and has no place in memory.
    mutating func leaveToStore() {
        mayHaveMore = true
        position = nil
        nothingBeyond = nil
        wasLeftTo = true
    }

    /// Records that this download waits in the store and has no place in memory. It is the last of the queue in memory,
    /// so the store is not read again from the start.
    mutating func leaveToStore(_ entry: DownloadEntry) {
        let before = QueuePosition(priority: entry.priority, id: entry.id.advanced(by: -1))
        let start = mayHaveMore ? position.map { $0.precedes(before) ? $0 : before } : before
        leaveToStore()
        position = start
    }

    mutating func beginReading() {
        isReading = true
        wasLeftTo = false
        if additions == 0 { departed = [] }
    }

    mutating func depart(_ id: DownloadID) {
        if isReading || additions > 0 { departed.insert(id) }
    }

    /// Records that a change of a download is over, or that its end is saved. The store may have been read before that,
    /// or after the download was queued again. So what this read says about the download is ignored, and the store is
    /// read once more.
    mutating func settle(_ id: DownloadID) {
        depart(id)
        if isReading { leaveToStore() }
    }

    mutating func didRead(_ entries: [DownloadEntry], limit: Int) {
        isReading = false
        if wasLeftTo { return }
        mayHaveMore = entries.count == limit
        position = mayHaveMore ? entries.last.map { QueuePosition(priority: $0.priority, id: $0.id) } : nil
    }

    /// Ends a read that does not change the position: the store failed, or it was asked for downloads of origins that
    /// are not busy.
    mutating func endReading() { isReading = false }

    /// Returns whether the store's answer about this download is out of date.
    func isOutdated(_ entry: DownloadEntry) -> Bool { departed.contains(entry.id) }

    // MARK: Beyond busy origins

    func isExhausted(without busy: Set<String>) -> Bool { nothingBeyond?.isSubset(of: busy) ?? false }

    /// Records that all downloads that wait only in the store belong to busy origins. Does nothing if a download was
    /// left to the store meanwhile.
    mutating func foundNothing(without busy: Set<String>) {
        if !wasLeftTo { nothingBeyond = busy }
    }
}
