import DownloadCore

extension RequestList {
    /// The most requests in one exchange. The response has the whole record of each download that existed already, and
    /// must stay below the limit of the client.
    private static let mostInBatch = 5_000
    /// The size in bytes at which a batch is full. With one more request that carries the digests of all pieces, it is
    /// still below the limit of a session (``ControlLimits/bodySize``).
    private static let batchSize = 512 << 10

    /// The lists that are sent one after the other.
    var batches: [RequestList] {
        if count <= Self.mostInBatch, approximateSize < Self.batchSize { return isEmpty ? [] : [self] }
        var (batches, current, size): ([RequestList], RequestList, Int) = ([], RequestList(), 0)
        for run in runs {
            var isContinued = false
            for url in run.urls {
                if current.count == Self.mostInBatch || size >= Self.batchSize {
                    batches.append(current)
                    (current, size, isContinued) = (RequestList(), 0, false)
                }
                if isContinued {
                    current.append(url)
                } else {
                    current.append(run.request(for: url))
                    size += run.request.approximateSize
                    isContinued = true
                }
                size += url.string.utf8.count + 3
            }
        }
        return current.isEmpty ? batches : batches + [current]
    }

    private var approximateSize: Int {
        runs.reduce(0) { size, run in
            run.urls.reduce(size + run.request.approximateSize) { $0 + $1.string.utf8.count + 3 }
        }
    }
}

extension DownloadRequest {
    /// The approximate size in bytes in a message, without the URL.
    fileprivate var approximateSize: Int {
        1_000 + (checksums?.size ?? 0) + (pieces?.carriedSize ?? 0)
            + mirrors.reduce(0) { $0 + $1.string.utf8.count + 3 } + (http.body?.bytes?.count ?? 0) * 4 / 3
            + headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) }
    }
}
