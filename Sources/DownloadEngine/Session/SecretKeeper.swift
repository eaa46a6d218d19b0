import DownloadCore

/// The secrets of requests that wait in the store, which does not keep secrets. Requests that were added together
/// usually share their secrets, so a million downloads cost one entry.
struct SecretKeeper {
    private struct Batch {
        var ids: ClosedRange<DownloadID>
        /// The origins for which the secrets were given. Another process may change a URL without notifying this one.
        var origins: Set<String>
        let secrets: GivenSecrets
    }

    private var batches: [Batch] = []

    /// Keeps the secrets of a request. Secrets of an earlier request of the download are no longer used.
    mutating func keep(_ record: DownloadRecord) {
        let request = record.request
        guard
            request.hasSecrets
                || batches.contains(where: { $0.ids.contains(record.id) })
        else { return }
        let secrets = GivenSecrets(of: request)
        if let last = batches.last, last.ids.upperBound.advanced(by: 1) == record.id, last.secrets == secrets {
            batches[batches.count - 1].ids = last.ids.lowerBound...record.id
            batches[batches.count - 1].origins.insert(request.url.origin)
        } else {
            batches.append(
                Batch(ids: record.id...record.id, origins: [request.url.origin], secrets: secrets))
        }
    }

    /// Restores only those secrets that the store left out. The secrets that were given last are used.
    func restore(_ record: inout DownloadRecord) {
        secrets(of: record.id, at: record.request.url)?.restore(&record.request)
    }

    func restored(_ entry: DownloadEntry) -> DownloadEntry {
        guard let secrets = secrets(of: entry.id, at: entry.url) else { return entry }
        var record = entry.record
        secrets.restore(&record.request)
        return DownloadEntry(record)
    }

    private func secrets(of id: DownloadID, at url: SourceURL) -> GivenSecrets? {
        guard let batch = batches.last(where: { $0.ids.contains(id) }), batch.origins.contains(url.origin) else {
            return nil
        }
        return batch.secrets
    }
}

/// The parts of a request that the store leaves out.
struct GivenSecrets: Equatable {
    private let headers: [RequestHeader]
    private let credential: Credential?
    private let body: RequestBody?
    private let proxy: ProxyAddress?

    init(of request: DownloadRequest) {
        headers = request.headers
        credential = request.credential
        body = request.http.body
        proxy = request.network.proxy
    }

    /// Restores only those parts that are missing in the request.
    func restore(_ request: inout DownloadRequest) {
        var kept = headers
        request.headers = request.headers.map { header in
            guard header.value == nil, let index = kept.firstIndex(where: { $0.name == header.name }) else {
                return header
            }
            return kept.remove(at: index)
        }
        if let asked = request.credential, asked.password == nil, asked.user == credential?.user {
            request.credential = credential
        }
        if let asked = request.http.body, asked.bytes == nil { request.http.body = body ?? asked }
        if let asked = request.network.proxy, asked.credential?.password == nil, asked.url == proxy?.url,
            asked.credential?.user == proxy?.credential?.user
        {
            request.network.proxy = proxy
        }
    }
}
