/// The secrets of requests that wait in the store, which does not keep them. What came in one go usually shares them, so
/// a million downloads cost one entry.
struct SecretKeeper {
    private struct Batch {
        var ids: ClosedRange<DownloadID>
        /// Whom the secrets were given for. The address may be changed by another process, which tells nobody here.
        var origins: Set<String>
        let headers: [RequestHeader]
        let credential: Credential?
    }

    private var batches: [Batch] = []

    /// What was kept of an earlier request counts no more.
    mutating func keep(_ record: DownloadRecord) {
        let request = record.request
        guard
            request.hasSecrets
                || batches.contains(where: { $0.ids.contains(record.id) })
        else { return }
        if let last = batches.last, last.ids.upperBound + 1 == record.id, last.headers == request.headers,
            last.credential == request.credential
        {
            batches[batches.count - 1].ids = last.ids.lowerBound...record.id
            batches[batches.count - 1].origins.insert(request.url.origin)
        } else {
            batches.append(
                Batch(
                    ids: record.id...record.id, origins: [request.url.origin], headers: request.headers,
                    credential: request.credential))
        }
    }

    /// Puts back what the store left out, and nothing else; the latest that was given counts.
    func restore(_ record: inout DownloadRecord) {
        guard let batch = batches.last(where: { $0.ids.contains(record.id) }),
            batch.origins.contains(record.request.url.origin)
        else { return }
        var kept = batch.headers
        record.request.headers = record.request.headers.map { header in
            guard header.value == nil, let index = kept.firstIndex(where: { $0.name == header.name }) else {
                return header
            }
            return kept.remove(at: index)
        }
        if let asked = record.request.credential, asked.password == nil, asked.user == batch.credential?.user {
            record.request.credential = batch.credential
        }
    }
}
