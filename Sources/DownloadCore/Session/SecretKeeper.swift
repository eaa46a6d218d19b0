/// The secrets of requests that wait in the store, which does not keep them. What came in one go usually shares them, so
/// a million downloads cost one entry.
struct SecretKeeper {
    private struct Batch {
        var ids: ClosedRange<DownloadID>
        let headers: [RequestHeader]
        let credential: Credential?
    }

    private var batches: [Batch] = []

    mutating func keep(_ record: DownloadRecord) {
        let request = record.request
        guard request.credential != nil || request.headers.contains(where: \.isSecret) else { return }
        if let last = batches.last, last.ids.upperBound + 1 == record.id, last.headers == request.headers,
            last.credential == request.credential
        {
            batches[batches.count - 1].ids = last.ids.lowerBound...record.id
        } else {
            batches.append(
                Batch(ids: record.id...record.id, headers: request.headers, credential: request.credential))
        }
    }

    /// The request has changed: what was kept of it before counts no more.
    mutating func replace(_ record: DownloadRecord) {
        guard batches.contains(where: { $0.ids.contains(record.id) }) || record.request.credential != nil else {
            return
        }
        batches.append(
            Batch(
                ids: record.id...record.id, headers: record.request.headers, credential: record.request.credential))
    }

    /// Puts back what the store left out; the latest that was given counts.
    func restore(_ record: inout DownloadRecord) {
        guard let batch = batches.last(where: { $0.ids.contains(record.id) }) else { return }
        record.request.headers = batch.headers
        record.request.credential = batch.credential
    }
}
