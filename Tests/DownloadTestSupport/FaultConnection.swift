import Foundation
import Synchronization

/// One connection of a ``FaultServer``, from its first request to its end, on its own thread.
struct FaultConnection {
    let wire: Wire
    let number: Int
    let core: FaultServer.Core

    func serve() {
        if let behaviour = core.tls.withLock({ $0 })?(number), !wire.secure(behaviour) { return }
        defer { wire.end() }
        if wire.speaksHTTP2 { return HTTP2Connection(wire: wire, number: number, core: core).serve() }
        var pending: [UInt8] = []
        while let request = readRequest(&pending) {
            let reply = core.handler.withLock { $0 }(request)
            let goesOn = answer(request, with: reply)
            core.log.update { $0.entries[request.number - 1].isOver = true }
            if !goesOn || request["Connection"]?.lowercased() == "close" { return }
        }
    }

    /// Reads the head up to the empty line, and the body if one is announced. Returns nil at the end of the connection.
    private func readRequest(_ pending: inout [UInt8]) -> FaultRequest? {
        let end = Array("\r\n\r\n".utf8)
        var searched = 0
        while true {
            if let found = pending[max(0, searched - 3)...].firstRange(of: end) {
                let head = String(decoding: pending[..<found.lowerBound], as: UTF8.self)
                pending.removeSubrange(..<found.upperBound)
                guard var request = FaultRequest(head: head) else { return nil }
                guard let body = take(Int(request["Content-Length"] ?? "0") ?? 0, &pending) else { return nil }
                request.body = body
                request.connection = number
                request.peer = LoopbackSocket.peer(of: wire.descriptor)
                request.arrival = .now
                return core.log.update { [request] log in
                    var numbered = request
                    numbered.number = log.entries.count + 1
                    log.entries.append(ServerLog.Entry(request: numbered))
                    return numbered
                }
            }
            searched = pending.count
            // Methods have upper-case letters. Another first byte is the hello of a TLS client.
            guard pending.first.map({ (65...90).contains($0) }) ?? true else {
                _ = send(Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8))
                return nil
            }
            guard searched < 1 << 17, wire.receive(into: &pending) else { return nil }
        }
    }

    private func take(_ count: Int, _ pending: inout [UInt8]) -> [UInt8]? {
        while pending.count < count { guard wire.receive(into: &pending) else { return nil } }
        defer { pending.removeFirst(count) }
        return Array(pending[..<count])
    }

    /// Answers a request. Returns false if the connection must end.
    private func answer(_ request: FaultRequest, with reply: FaultReply) -> Bool {
        if reply.cut == .silence { return false }
        if let raw = reply.raw { return send(raw, of: request) }
        let resolved = ResolvedReply(reply, to: request)
        core.log.update { log in
            log.entries[request.number - 1].status = resolved.status
            if case .content(let range)? = resolved.pieces.first {
                log.entries[request.number - 1].start = range.lowerBound
            }
        }
        let head = head(resolved, reply)
        if request.method == "HEAD" { return send(head) }
        var writer = BodyWriter(
            connection: self, entry: request.number - 1, limit: reply.cut?.limit ?? .max, reply: reply)
        guard writer.write(resolved, after: head) else { return false }
        wire.notifiesClose = reply.notifiesClose
        switch reply.cut {
        case nil:
            let closes = reply.fields.contains { $0.name == "Connection" && $0.value == "close" }
            return !closes && reply.framing.isDelimited
        case .close, .silence: return false
        case .reset:
            wire.reset()
            return false
        case .stall:
            wire.waitForEnd()
            return false
        case .corruptRecord:
            _ = wire.send([UInt8](repeating: 0, count: 1000), damage: .corrupt)
            wire.waitForEnd()
            return false
        case .halfRecord:
            _ = wire.send([UInt8](repeating: 0, count: 1000), damage: .half)
            wire.notifiesClose = false
            return false
        }
    }

    /// Sends raw bytes, at most a gigabyte. A client that reads so much fails its test.
    private func send(_ raw: FaultReply.Raw, of request: FaultRequest) -> Bool {
        guard send(raw.bytes), !raw.unit.isEmpty else { return false }
        let block = Array(repeatElement(raw.unit, count: max(1, 4096 / raw.unit.count)).joined())
        var sent = Int64(raw.bytes.count)
        while sent < 1 << 30, send(block) {
            sent += Int64(block.count)
            core.log.update { [sent] in $0.entries[request.number - 1].sent = sent }
        }
        return false
    }

    private func head(_ reply: ResolvedReply, _ script: FaultReply) -> [UInt8] {
        var lines = ["HTTP/1.1 \(reply.status) \(script.phrase ?? Self.phrases[reply.status] ?? "Status")"]
        var fields = reply.fields
        if !fields.contains(where: { $0.name == "Date" }) { fields.append(("Date", HTTPDate.string(Date()))) }
        if reply.status != 304 {
            fields += script.framing.lengths(of: reply.size).map { ("Content-Length", $0) }
            if script.framing.isChunked { fields.append(("Transfer-Encoding", "chunked")) }
            if script.framing == .closeDelimited { fields.append(("Connection", "close")) }
        }
        lines += fields.map { "\($0.name): \($0.value)" }
        let bytes =
            [Array(script.preamble.utf8)]
            + (lines.map { Array($0.utf8) } + script.lines).map { $0 + Array("\r\n".utf8) }
        return bytes.flatMap { $0 } + Array("\r\n".utf8)
    }

    private static let phrases = [
        200: "OK", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 401: "Unauthorized",
        403: "Forbidden", 404: "Not Found", 410: "Gone", 416: "Range Not Satisfiable", 429: "Too Many Requests",
        500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    ]

    func send(_ bytes: [UInt8]) -> Bool { wire.send(bytes) }
}
