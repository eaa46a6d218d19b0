import CTestSupport
import Foundation
import Synchronization

/// One HTTP/2 connection of a ``FaultServer``. Its streams take turns, frame by frame, on one thread.
final class HTTP2Connection {
    private let wire: Wire
    private let number: Int
    private let core: FaultServer.Core
    private let hpack = dlmtest_hpack_create()
    private var pending: [UInt8] = []
    private var streams: [HTTP2Stream] = []
    /// A header block that continues in CONTINUATION frames.
    private var block: [UInt8] = []
    private var window: Int64 = 65535
    private var initialWindow: Int64 = 65535
    private var isOpen = true

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    init(wire: Wire, number: Int, core: FaultServer.Core) {
        (self.wire, self.number, self.core) = (wire, number, core)
    }

    deinit { dlmtest_hpack_free(hpack) }

    func serve() {
        while pending.count < Self.preface.count { guard wire.receive(into: &pending) else { return } }
        guard pending.starts(with: Self.preface) else { return }
        pending.removeFirst(Self.preface.count)
        // At most 100 streams at a time (SETTINGS_MAX_CONCURRENT_STREAMS).
        send(.settings([(3, 100)]))
        while isOpen {
            while isOpen, let frame = HTTP2Frame.take(from: &pending) { take(frame) }
            if !isOpen || sendOne() { continue }
            guard wire.waitForInput(milliseconds: patience) else { continue }
            guard wire.receive(into: &pending) else { return }
        }
    }

    /// Sends the next frame of one stream. Returns false and sends nothing if input is waiting, which may stop a reply,
    /// or if no stream is ready.
    private func sendOne() -> Bool {
        if wire.waitForInput(milliseconds: 0) { return false }
        let now = ContinuousClock.now
        guard let index = streams.firstIndex(where: { isReady($0, now) }) else { return false }
        var stream = streams.remove(at: index)
        // The stream moves to the end of the queue unless it is over.
        if advance(&stream) { streams.append(stream) }
        return true
    }

    private func isReady(_ stream: HTTP2Stream, _ now: ContinuousClock.Instant) -> Bool {
        if !stream.isHeadSent || stream.isFaultDue || stream.isBodyAtStop { return true }
        return sendable(stream) > 0 && stream.due.map { $0 <= now } ?? true
    }

    private func sendable(_ stream: HTTP2Stream) -> Int64 {
        min(stream.sendable(holdsEnds: core.isHoldingEnds), window)
    }

    /// The time in milliseconds until the next stream may send. The thread waits so long for input from the peer. -1
    /// means without a limit.
    private var patience: Int32 {
        let waiting = streams.filter { sendable($0) > 0 }.compactMap(\.due)
        // `releaseEnds()` does not wake this thread, so it looks every 5 ms whether it may send the last bytes.
        let isHolding = core.isHoldingEnds && streams.contains(where: \.canBeHeld)
        guard let due = waiting.min() else { return isHolding ? 5 : -1 }
        return Int32(max(1, ContinuousClock.now.duration(to: due) / .milliseconds(1)))
    }

    // MARK: Replies

    /// Sends the next part of the reply. Returns false if the stream is over.
    private func advance(_ stream: inout HTTP2Stream) -> Bool {
        if stream.isFaultDue, let fault = stream.reply.http2 {
            stream.isFaultDone = true
            for frame in fault.frames(stream.id) { send(frame) }
            switch fault.then {
            case .goesOn: return true
            case .streamEnds: return over(stream)
            case .connectionEnds:
                isOpen = false
                return over(stream)
            }
        }
        if !stream.isHeadSent {
            if stream.reply.cut == .silence { return cut(stream) }
            stream.isHeadSent = true
            send(.headers(stream.headFields, stream: stream.id, ends: false))
            return true
        }
        if stream.isBodyAtStop {
            if stream.reply.cut != nil { return cut(stream) }
            send(.data([], stream: stream.id, ends: true))
            return over(stream)
        }
        let bytes = stream.take(sendable(stream))
        window -= Int64(bytes.count)
        send(.data(bytes, stream: stream.id))
        core.log.update { [entry = stream.entry, sent = stream.sent] in $0.entries[entry].sent = sent }
        return isOpen
    }

    private func over(_ stream: HTTP2Stream) -> Bool {
        core.log.update { $0.entries[stream.entry].isOver = true }
        return false
    }

    /// Ends the reply as its script says.
    private func cut(_ stream: HTTP2Stream) -> Bool {
        wire.notifiesClose = stream.reply.notifiesClose
        switch stream.reply.cut {
        case nil, .stall: return over(stream)
        case .close, .silence: break
        case .reset: wire.reset()
        case .corruptRecord: _ = wire.send([UInt8](repeating: 0, count: 1000), damage: .corrupt)
        case .halfRecord:
            _ = wire.send([UInt8](repeating: 0, count: 1000), damage: .half)
            wire.notifiesClose = false
        }
        isOpen = false
        return over(stream)
    }

    private func send(_ frame: HTTP2Frame) { if !wire.send(frame.bytes) { isOpen = false } }

    // MARK: Requests

    private func take(_ frame: HTTP2Frame) {
        switch frame.type {
        case 1: takeHeaders(frame)
        case 9: takeBlock(frame.payload[...], frame)
        case 3: streams.removeAll { $0.id == frame.stream && !over($0) }
        case 4 where frame.flags & HTTP2Frame.acknowledgement == 0: takeSettings(frame)
        case 6 where frame.flags & HTTP2Frame.acknowledgement == 0:
            send(HTTP2Frame(type: 6, flags: HTTP2Frame.acknowledgement, payload: frame.payload))
        case 8 where frame.payload.count == 4:
            let more = Int64(HTTP2Frame.number(frame.payload[...]))
            if frame.stream == 0 { window += more }
            for index in streams.indices where streams[index].id == frame.stream { streams[index].window += more }
        default: break
        }
    }

    private func takeSettings(_ frame: HTTP2Frame) {
        for start in stride(from: 0, to: frame.payload.count - 5, by: 6) where frame.payload[start + 1] == 4 {
            let size = Int64(HTTP2Frame.number(frame.payload[start + 2..<start + 6]))
            for index in streams.indices { streams[index].window += size - initialWindow }
            initialWindow = size
        }
        send(HTTP2Frame(type: 4, flags: HTTP2Frame.acknowledgement))
    }

    private func takeHeaders(_ frame: HTTP2Frame) {
        var payload = frame.payload[...]
        // The fields that precede the block: PADDED, then PRIORITY.
        let padding = frame.flags & 8 != 0 ? Int(payload.removeFirst()) : 0
        if frame.flags & 0x20 != 0 { payload = payload.dropFirst(5) }
        takeBlock(payload.dropLast(padding), frame)
    }

    private func takeBlock(_ part: ArraySlice<UInt8>, _ frame: HTTP2Frame) {
        block += part
        guard frame.flags & HTTP2Frame.endHeaders != 0 else { return }
        defer { block = [] }
        guard let request = decode(block) else {
            isOpen = false
            return
        }
        let numbered = core.log.update { [number] log in
            var numbered = request
            numbered.number = log.entries.count + 1
            numbered.connection = number
            numbered.arrival = .now
            log.entries.append(ServerLog.Entry(request: numbered))
            return numbered
        }
        let reply = core.handler.withLock { $0 }(numbered)
        let stream = HTTP2Stream(
            id: frame.stream, entry: numbered.number - 1, reply: reply, to: numbered, window: initialWindow)
        core.log.update { log in
            log.entries[stream.entry].status = stream.resolved.status
            if case .content(let range)? = stream.resolved.pieces.first {
                log.entries[stream.entry].start = range.lowerBound
            }
        }
        streams.append(stream)
    }

    private func decode(_ block: [UInt8]) -> FaultRequest? {
        var request = FaultRequest()
        request.isHTTP2 = true
        let isWhole = withUnsafeMutablePointer(to: &request) { request in
            dlmtest_hpack_decode(hpack, block, block.count, request) { context, name, nameLength, value, valueLength in
                let name = String(decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self)
                let value = String(decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self)
                guard let request = context?.assumingMemoryBound(to: FaultRequest.self) else { return }
                switch name {
                case ":method": request.pointee.method = value
                case ":path": request.pointee.target = value
                case ":authority": request.pointee.fields.append(("Host", value))
                case _ where name.hasPrefix(":"): break
                default: request.pointee.fields.append((name, value))
                }
            }
        }
        return isWhole != 0 ? request : nil
    }
}
