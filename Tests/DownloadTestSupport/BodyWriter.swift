/// Writes the body of one reply: in slices that keep to the rate, counted in the log, up to where the script cuts it.
struct BodyWriter {
    let connection: FaultConnection
    let entry: Int
    /// Bytes of the body after which to stop.
    let limit: Int64
    let reply: FaultReply

    private var sent: Int64 = 0
    private var insertion: (after: Int64, text: String)?
    private var sizeError: (after: Int64, by: Int)?
    /// When what was sent is due to have been sent.
    private var due = ContinuousClock.now

    init(connection: FaultConnection, entry: Int, limit: Int64, reply: FaultReply) {
        self.connection = connection
        self.entry = entry
        self.limit = limit
        self.reply = reply
        insertion = reply.chunkInsertion
        sizeError = reply.chunkSizeError
    }

    private var isChunked: Bool { reply.framing.isChunked }

    private var bytesPerSecond: Int? {
        if let trickle = reply.trickle, sent < trickle.count { return trickle.bytesPerSecond }
        return reply.bytesPerSecond
    }

    /// Where the next slice has to end, whatever its size.
    private var boundary: Int64 {
        var end = limit
        if let insertion { end = min(end, insertion.after) }
        if let sizeError, sizeError.after > sent { end = min(end, sizeError.after) }
        if let trickle = reply.trickle, sent < trickle.count { end = min(end, trickle.count) }
        return end
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
                    let next = min(range.upperBound, offset + min(sliceSize, boundary - sent))
                    guard slice(reply.content.bytes(offset..<next)) else { return false }
                    offset = next
                }
            }
        }
        return !isChunked || sent == limit || connection.send(Array(self.reply.lastChunk.utf8))
    }

    private mutating func slice(_ bytes: [UInt8]) -> Bool {
        if bytes.isEmpty { return true }
        var framed = bytes
        if isChunked {
            var announced = bytes.count
            if let error = sizeError, sent >= error.after {
                announced += error.by
                sizeError = nil
            }
            framed = Array("\(String(announced, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
        }
        let rate = bytesPerSecond
        guard connection.send(framed) else { return false }
        sent += Int64(bytes.count)
        connection.core.log.update { $0.entries[entry].sent = sent }
        if let insertion, sent >= insertion.after {
            guard connection.send(Array(insertion.text.utf8)) else { return false }
            self.insertion = nil
        }
        if let rate {
            due += .seconds(Double(bytes.count) / Double(rate))
            let rest = ContinuousClock.now.duration(to: due)
            if rest > .zero { connection.wire.pause(rest) }
        }
        return true
    }
}
