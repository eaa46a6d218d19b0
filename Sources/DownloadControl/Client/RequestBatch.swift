import DownloadCore

/// Requests that travel together: neighbours that differ only in their URL share one text.
struct RequestBatch {
    private(set) var groups: [WireGroup] = []
    private(set) var requests: [DownloadRequest] = []
    private var size = 0

    /// In one exchange: a transaction and its answer stay small.
    private static let limit = 4_000
    /// Bytes, far enough below what a session takes.
    private static let sizeLimit = 512 << 10

    static func batches(of requests: [DownloadRequest]) -> [RequestBatch] {
        var batches: [RequestBatch] = []
        var current = RequestBatch()
        for request in requests {
            if current.requests.count == limit || current.size >= sizeLimit {
                batches.append(current)
                current = RequestBatch()
            }
            current.append(request)
        }
        if !current.requests.isEmpty { batches.append(current) }
        return batches
    }

    private mutating func append(_ request: DownloadRequest) {
        if let last = requests.last, last.differsOnlyInURL(from: request) {
            groups[groups.count - 1].urls.append(request.url.string)
            size += request.url.string.utf8.count + 3
        } else {
            groups.append(WireGroup(request))
            size +=
                request.url.string.utf8.count + 1_000 + (request.checksums?.size ?? 0)
                + request.headers.reduce(0) { sum, field in
                    sum + field.name.utf8.count + (field.value?.utf8.count ?? 0)
                }
        }
        requests.append(request)
    }
}
