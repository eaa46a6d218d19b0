import DownloadCore

/// Where the store has the intents that this process has written (``IntentRow``, ``ItemIntents``).
struct IntentBook {
    /// Where the intent of a download was.
    enum Kept {
        /// A row of its own.
        case row
        /// The only remaining one of a batch.
        case lastOfBatch(Int64)
        case oneOfBatch(Int64)
    }

    /// The number of the batch of each download; nil for a row of its own.
    private var batches: [DownloadID: Int64?] = [:]
    /// The number of remaining downloads of each batch.
    private var remaining: [Int64: Int] = [:]

    mutating func add(_ id: DownloadID) { batches[id] = .some(nil) }

    mutating func add(_ ids: [DownloadID], _ batch: Int64) {
        for id in ids { batches[id] = batch }
        remaining[batch] = ids.count
    }

    /// Forgets the intent of a download. Returns nil if there was none.
    mutating func remove(_ id: DownloadID) -> Kept? {
        guard let batch = batches.removeValue(forKey: id) else { return nil }
        guard let batch else { return .row }
        let count = remaining[batch, default: 1] - 1
        remaining[batch] = count > 0 ? count : nil
        return count > 0 ? .oneOfBatch(batch) : .lastOfBatch(batch)
    }
}
