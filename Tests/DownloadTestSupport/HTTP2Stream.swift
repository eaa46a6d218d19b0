/// The state of the reply to one request over HTTP/2.
struct HTTP2Stream {
    let id: UInt32
    /// The index of the entry in the server's log.
    let entry: Int
    let reply: FaultReply
    let resolved: ResolvedReply
    /// The number of body bytes that the peer allows this stream to send.
    var window: Int64
    var sent: Int64 = 0
    var isHeadSent = false
    var isFaultDone = false
    private let begin = ContinuousClock.now

    init(id: UInt32, entry: Int, reply: FaultReply, to request: FaultRequest, window: Int64) {
        (self.id, self.entry, self.reply, self.window) = (id, entry, reply, window)
        resolved = ResolvedReply(reply, to: request)
    }

    static let longestPiece: Int64 = 16384

    /// Whether the fault is due: it comes before the head, or the fault's `after` bytes of the body were sent.
    var isFaultDue: Bool {
        guard let fault = reply.http2, !isFaultDone else { return false }
        return fault.after.map { isHeadSent && sent >= min($0, resolved.size) } ?? true
    }

    /// The offset at which the body stops for now: its end, a cut or a fault.
    private var stop: Int64 {
        let fault = isFaultDone ? nil : reply.http2?.after
        return min(resolved.size, reply.cut?.limit ?? .max, fault ?? .max)
    }

    var isBodyAtStop: Bool { sent >= stop }

    /// Whether the last byte can be held back, see ``FaultServer/holdEnds()``. Small bodies are never held back.
    var canBeHeld: Bool { resolved.size >= 1 << 16 }

    /// Returns the number of bytes that the window, the rate and the hold on the last byte allow now.
    func sendable(holdsEnds: Bool) -> Int64 {
        let slice = reply.bytesPerSecond.map { Int64(max(1, min($0 / 50, Int(Self.longestPiece)))) }
        let end = holdsEnds && canBeHeld ? min(stop, resolved.size - 1) : stop
        return max(0, min(end - sent, window, slice ?? Self.longestPiece))
    }

    /// The time at which the rate allows the next bytes. Nil means at once.
    var due: ContinuousClock.Instant? {
        reply.bytesPerSecond.map { begin + .seconds(Double(sent) / Double($0)) }
    }

    /// Returns the next bytes of the body, at most `count`.
    mutating func take(_ count: Int64) -> [UInt8] {
        var offset = sent
        for piece in resolved.pieces {
            let bytes: [UInt8]
            switch piece {
            case .text(let text):
                let all = Array(text.utf8)
                if offset >= Int64(all.count) {
                    offset -= Int64(all.count)
                    continue
                }
                bytes = Array(all[Int(offset)...].prefix(Int(count)))
            case .content(let range):
                if offset >= Int64(range.count) {
                    offset -= Int64(range.count)
                    continue
                }
                let start = range.lowerBound + offset
                bytes = resolved.content.bytes(start..<min(range.upperBound, start + count))
            }
            sent += Int64(bytes.count)
            window -= Int64(bytes.count)
            return bytes
        }
        return []
    }

    var headFields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [(":status", "\(resolved.status)")] + resolved.fields
        if resolved.status != 304 {
            fields += reply.framing.lengths(of: resolved.size).map { ("content-length", $0) }
        }
        return fields
    }
}
