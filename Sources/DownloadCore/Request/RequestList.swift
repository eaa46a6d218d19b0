/// Requests in order. Neighbours that differ only in their URLs share one request, because copying and comparing a
/// request takes longer than parsing a URL.
package struct RequestList: Sendable {
    /// Neighbours that differ only in their URLs.
    package struct Run: Sendable {
        /// The request of the first URL.
        package let request: DownloadRequest
        package fileprivate(set) var urls: [SourceURL]
        /// The index of the first URL among all URLs of the list.
        package let start: Int

        package func request(for url: SourceURL) -> DownloadRequest {
            var request = request
            request.url = url
            return request
        }
    }

    package private(set) var runs: [Run] = []
    package private(set) var endIndex = 0
    /// The request of the last run, in which only the URL is replaced to compare it with the next request. This costs
    /// less than a copy of each request.
    private var probe: DownloadRequest?

    package init() {}

    package init(_ requests: some Sequence<DownloadRequest>) {
        for request in requests { append(request) }
    }

    package mutating func append(_ request: DownloadRequest) {
        probe?.url = request.url
        if probe == request { return append(request.url) }
        runs.append(Run(request: request, urls: [request.url], start: endIndex))
        probe = request
        endIndex += 1
    }

    /// Appends a request that differs from the last one only in its URL.
    package mutating func append(_ url: SourceURL) {
        runs[runs.count - 1].urls.append(url)
        endIndex += 1
    }
}

extension RequestList: RandomAccessCollection {
    package var startIndex: Int { 0 }

    package subscript(index: Int) -> DownloadRequest {
        let run = runs.partitioningIndex { $0.start > index } - 1
        return runs[run].request(for: runs[run].urls[index - runs[run].start])
    }
}
