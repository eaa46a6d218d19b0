import DownloadCore

/// What a server was asked and what it really sent.
package struct ServerLog: Sendable {
    package struct Entry: Sendable {
        package let request: FaultRequest
        package var status = 0
        /// The offset in the content of the first byte of the body, when the body is a plain range of it.
        package var start: Int64?
        /// Bytes of the body handed to the kernel.
        package var sent: Int64 = 0
        /// The reply has ended, well or not.
        package var isOver = false

        package var range: String? { request["Range"] }
        package var ifRange: String? { request["If-Range"] }
    }

    /// By request number, which counts from 1.
    package internal(set) var entries: [Entry] = []
    package internal(set) var connections = 0
    package internal(set) var openConnections = 0
    /// The most connections that were open at one time.
    package internal(set) var peakConnections = 0

    package var bytesSent: Int64 { entries.reduce(0) { $0 + $1.sent } }

    /// Bytes of the content that were sent more than once, for one target or all requests of a server of one file.
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
