/// Writes the body of one reply: in slices that keep to the rate, counted in the log, up to where the script cuts it.
struct BodyWriter {
    let connection: FaultConnection
    let entry: Int
    let chunked: Bool
    /// Bytes of the body after which to stop.
    let limit: Int64
    let bytesPerSecond: Int?

    private var sent: Int64 = 0
    private let begin = ContinuousClock.now

    init(connection: FaultConnection, entry: Int, chunked: Bool, limit: Int64, bytesPerSecond: Int?) {
        self.connection = connection
        self.entry = entry
        self.chunked = chunked
        self.limit = limit
        self.bytesPerSecond = bytesPerSecond
    }

    /// A fiftieth of a second's worth when throttled.
    private var sliceSize: Int64 { bytesPerSecond.map { Int64(max(1, min($0 / 50, 1 << 18))) } ?? 1 << 18 }

    /// False when the connection ended.
    mutating func write(_ reply: ResolvedReply) -> Bool {
        for piece in reply.pieces {
            switch piece {
            case .text(let text):
                guard slice(Array(text.utf8.prefix(Int(min(limit - sent, Int64(Int32.max)))))) else { return false }
            case .content(let range):
                var offset = range.lowerBound
                while offset < range.upperBound, sent < limit {
                    let next = min(range.upperBound, offset + min(sliceSize, limit - sent))
                    guard slice(reply.content.bytes(offset..<next)) else { return false }
                    offset = next
                }
            }
        }
        return !chunked || sent == limit || connection.send(Array("0\r\n\r\n".utf8))
    }

    private mutating func slice(_ bytes: [UInt8]) -> Bool {
        if bytes.isEmpty { return true }
        var framed = bytes
        if chunked {
            framed = Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
        }
        guard connection.send(framed) else { return false }
        sent += Int64(bytes.count)
        connection.core.log.update { $0.entries[entry].sent = sent }
        if let bytesPerSecond {
            let due = begin + .seconds(Double(sent) / Double(bytesPerSecond))
            let rest = ContinuousClock.now.duration(to: due)
            if rest > .zero { connection.wire.pause(rest) }
        }
        return true
    }
}
