/// Writes the head and the body of one reply in slices that keep to the rate. The log counts the bytes that were sent.
/// The ``FaultReply`` may cut the body.
struct BodyWriter {
    let connection: FaultConnection
    let entry: Int
    /// The number of body bytes after which to stop.
    let limit: Int64
    let reply: FaultReply

    private var sent: Int64 = 0
    private var insertion: (after: Int64, text: String)?
    private var sizeError: (after: Int64, by: Int)?
    /// The head. Empty once it is sent.
    private var head: [UInt8] = []
    /// The bytes around the announced end of the body, if the body is longer than announced. These bytes are sent in
    /// one write and in one TLS record. If they begin the body, the head is sent in the same write. So a client that
    /// has the last announced byte also has the next byte.
    private var joint: Range<Int64>?
    /// The time at which the bytes sent so far are due under the rate.
    private var due = ContinuousClock.now

    init(connection: FaultConnection, entry: Int, limit: Int64, reply: FaultReply) {
        self.connection = connection
        self.entry = entry
        self.limit = limit
        self.reply = reply
        insertion = reply.chunkInsertion
        sizeError = reply.chunkSizeError
        if reply.bytesPerSecond != nil || reply.gate != nil { connection.wire.limitUnread() }
    }

    private var isChunked: Bool { reply.framing.isChunked }

    private var bytesPerSecond: Int? {
        if let trickle = reply.trickle, sent < trickle.count { return trickle.bytesPerSecond }
        return reply.bytesPerSecond
    }

    /// The offset at which the next slice must end at the latest.
    private var boundary: Int64 {
        var end = limit
        if let insertion { end = min(end, insertion.after) }
        if let sizeError, sizeError.after > sent { end = min(end, sizeError.after) }
        if let trickle = reply.trickle, sent < trickle.count { end = min(end, trickle.count) }
        if let joint, sent < joint.lowerBound { end = min(end, joint.lowerBound) }
        if let gate = reply.gate, sent < gate.place { end = min(end, gate.place) }
        return end
    }

    /// The size of a slice. A slice of a throttled reply has at most the bytes of a fiftieth of a second.
    private var sliceSize: Int64 {
        if let joint, joint.contains(sent) { return joint.upperBound - sent }
        return bytesPerSecond.map { Int64(max(1, min($0 / 50, 1 << 18))) } ?? 1 << 18
    }

    private static let patience = Duration.milliseconds(100)
    private static let aroundEnd = (before: 1000 as Int64, all: 14_000 as Int64)

    /// Writes the reply. Returns false if the connection ended.
    mutating func write(_ reply: ResolvedReply, after head: [UInt8]) -> Bool {
        self.head = head
        if let end = self.reply.framing.earlyEnd(of: reply.size) {
            let start = max(0, end - Self.aroundEnd.before)
            joint = start..<start + Self.aroundEnd.all
        }
        guard joint?.lowerBound == 0 && limit > 0 || sendHead() else { return false }
        guard writeBody(reply) else { return false }
        return sendHead()
    }

    private mutating func sendHead() -> Bool {
        if head.isEmpty { return true }
        defer { head = [] }
        return connection.send(head)
    }

    private mutating func writeBody(_ reply: ResolvedReply) -> Bool {
        for piece in reply.pieces {
            switch piece {
            case .text(let text):
                guard slice(Array(text.utf8.prefix(Int(min(limit - sent, Int64(Int32.max)))))) else { return false }
            case .content(let range):
                var offset = range.lowerBound
                let (core, last) = (connection.core, reply.content.size - 1)
                while offset < range.upperBound, sent < limit {
                    var next = min(range.upperBound, offset + min(sliceSize, boundary - sent))
                    if core.isHoldingEnds, last >= 1 << 16 {
                        if offset < last { next = min(next, last) }
                        guard offset < last || standStill(while: { core.isHoldingEnds }) else { return false }
                    }
                    guard slice(reply.content.bytes(offset..<next)) else { return false }
                    offset = next
                }
            }
        }
        return !isChunked || sent == limit || connection.send(Array(self.reply.lastChunk.utf8))
    }

    /// Waits while the condition holds. Returns false if the client has closed the connection.
    private mutating func standStill(while waits: () -> Bool) -> Bool {
        guard waits() else { return true }
        while waits() { guard connection.wire.standStill(.milliseconds(5)) else { return false } }
        due = .now
        return true
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
        if let joint, sent == joint.lowerBound { LoopbackSocket.waitUntilTaken(connection.wire.descriptor) }
        framed = head + framed
        head = []
        guard connection.send(framed) else { return false }
        sent += Int64(bytes.count)
        connection.core.log.update { $0.entries[entry].sent = sent }
        if let insertion, sent >= insertion.after {
            guard connection.send(Array(insertion.text.utf8)) else { return false }
            self.insertion = nil
        }
        if let rate {
            // A long delay is not made up for, because a burst after the delay would exceed the rate.
            due = max(due + .seconds(Double(bytes.count) / Double(rate)), .now - Self.patience)
            let rest = ContinuousClock.now.duration(to: due)
            if rest > .zero { connection.wire.pause(rest) }
        }
        if let gate = reply.gate, sent == gate.place {
            guard standStill(while: { !gate.isOpen }) else { return false }
        }
        return true
    }
}
