import DownloadCore

/// The requests to a server and the bytes that it really sent.
package struct ServerLog: Sendable {
    package struct Entry: Sendable {
        package let request: FaultRequest
        package var status = 0
        /// The offset of the first byte of the body in the content, if the body is a plain range of the content.
        package var start: Int64?
        /// The number of bytes of the body that were given to the kernel.
        package var sent: Int64 = 0
        /// Whether the reply has ended, with or without success.
        package var isOver = false

        package var range: String? { request["Range"] }
        package var ifRange: String? { request["If-Range"] }
    }

    /// The entries by the number of the request, which counts from 1.
    package internal(set) var entries: [Entry] = []
    package internal(set) var connections = 0
    package internal(set) var openConnections = 0
    /// The greatest number of connections at the same time.
    package internal(set) var peakConnections = 0

    package var bytesSent: Int64 { entries.reduce(0) { $0 + $1.sent } }

    /// Returns the number of content bytes that were sent more than once, for one target, or for all requests if the
    /// server has only one file.
    package func bytesSentTwice(target: String? = nil) -> Int64 {
        var seen = ByteRanges()
        var sum: Int64 = 0
        for entry in entries where target == nil || entry.request.target == target {
            guard let start = entry.start, entry.status == 200 || entry.status == 206 else { continue }
            sum += entry.sent
            seen.insert(start..<start + entry.sent)
        }
        return sum - seen.count
    }

    package func requests(to target: String) -> [Entry] { entries.filter { $0.request.target == target } }
}
