import DownloadCore

/// The places of the intents that this process has written to the store. An intent records that a small file is whole
/// and about to get its name (``IntentRow``, ``ItemIntents``).
struct IntentBook {
    /// The place of an intent.
    enum Kept {
        /// The intent has its own row.
        case row
        /// The intent is the only remaining intent in the row of a batch.
        case lastOfBatch(Int64)
        /// The row of a batch contains further intents.
        case oneOfBatch(Int64)
    }

    /// The number of the batch that contains the intent of each download; nil if the intent has its own row.
    private var batches: [DownloadID: Int64?] = [:]
    /// The number of remaining downloads of each batch.
    private var remaining: [Int64: Int] = [:]

    mutating func add(_ id: DownloadID) { batches[id] = .some(nil) }

    mutating func add(_ ids: [DownloadID], _ batch: Int64) {
        for id in ids { batches[id] = batch }
        remaining[batch] = ids.count
    }

    /// Forgets the intent of a download. Returns the place of the intent, or nil if the download had none.
    mutating func remove(_ id: DownloadID) -> Kept? {
        guard let batch = batches.removeValue(forKey: id) else { return nil }
        guard let batch else { return .row }
        let count = remaining[batch, default: 1] - 1
        remaining[batch] = count > 0 ? count : nil
        return count > 0 ? .oneOfBatch(batch) : .lastOfBatch(batch)
    }
}
