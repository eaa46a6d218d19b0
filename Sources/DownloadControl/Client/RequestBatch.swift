import DownloadCore

/// Requests that are sent together. Neighbours that differ only in their URL share one group.
struct RequestBatch {
    private(set) var groups: [WireGroup] = []
    private(set) var requests: ArraySlice<DownloadRequest>
    private var size = 0
    /// A copy of the last request, with which the next request is compared. Replacing only the URL of this copy costs
    /// less than copying each request.
    private var probe: DownloadRequest?

    /// The most requests in one exchange, so that the transaction and the response stay small.
    private static let limit = 4_000
    /// The size in bytes at which a batch is full. It is far below the limit of a session (``ControlLimits/bodySize``).
    private static let sizeLimit = 512 << 10

    static func batches(of requests: [DownloadRequest]) -> [RequestBatch] {
        var batches: [RequestBatch] = []
        var current = RequestBatch(requests: requests[..<0])
        for index in requests.indices {
            if current.requests.count == limit || current.size >= sizeLimit {
                batches.append(current)
                current = RequestBatch(requests: requests[index..<index])
            }
            current.append(requests[index])
            current.requests = requests[current.requests.startIndex...index]
        }
        if !current.requests.isEmpty { batches.append(current) }
        return batches
    }

    private init(requests: ArraySlice<DownloadRequest>) { self.requests = requests }

    private mutating func append(_ request: DownloadRequest) {
        probe?.url = request.url
        if probe.map({ $0 == request }) ?? false {
            groups[groups.count - 1].urls.append(request.url.string)
            size += request.url.string.utf8.count + 3
        } else {
            groups.append(WireGroup(request))
            probe = request
            size +=
                request.url.string.utf8.count + 1_000 + (request.checksums?.size ?? 0)
                + (request.pieces?.carriedSize ?? 0) + request.mirrors.reduce(0) { $0 + $1.string.utf8.count + 3 }
                + (request.http.body?.bytes?.count ?? 0) * 4 / 3
                + request.headers.reduce(0) { sum, field in
                    sum + field.name.utf8.count + (field.value?.utf8.count ?? 0)
                }
        }
    }
}
