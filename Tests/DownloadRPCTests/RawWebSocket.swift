import DownloadTestSupport
import Foundation

@testable import DownloadRPC

/// A WebSocket client written by hand (RFC 6455), which can break every rule.
final class RawWebSocket: Sendable {
    let client: RawClient

    init(_ port: Int, host: String? = nil, path: String = "/jsonrpc", fields: [String] = [], reads: Bool = true) throws
    {
        client = try RawClient(port: port, reads: reads)
        let head = [
            "GET \(path) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
        ]
        client.send((head + fields).joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// Returns the status of the answer to the handshake.
    func status() async -> Int {
        _ = await client.received.wait { $0.text.contains("\r\n\r\n") || $0.isClosed }
        return client.received.value.status
    }

    /// - Parameter length: The length in the frame's head, if not the real one.
    func send(_ text: String, opcode: UInt8 = 1, isLast: Bool = true, length: Int? = nil) {
        _ = sends(text, opcode: opcode, isLast: isLast, length: length)
    }

    /// Sends a frame. Returns false if the server has closed the connection.
    func sends(_ text: String, opcode: UInt8 = 1, isLast: Bool = true, length: Int? = nil) -> Bool {
        let (bytes, mask) = (Array(text.utf8), [UInt8]([1, 2, 3, 4]))
        var frame = [(isLast ? 0x80 : 0) | opcode]
        let count = length ?? bytes.count
        if count < 126 {
            frame.append(0x80 | UInt8(count))
        } else {
            frame.append(0x80 | 127)
            frame += (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
        }
        return client.send(frame + mask + bytes.enumerated().map { $1 ^ mask[$0 % 4] })
    }

    /// Returns the messages that have arrived completely.
    static func messages(_ received: RawClient.Received) -> [(opcode: UInt8, text: String)] {
        guard let end = received.bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return [] }
        var rest = received.bytes[end...]
        var messages: [(UInt8, String)] = []
        while rest.count >= 2 {
            let opcode = rest[rest.startIndex] & 15
            var count = Int(rest[rest.startIndex + 1] & 127)
            var head = 2
            let extra = count == 126 ? 2 : count == 127 ? 8 : 0
            guard rest.count >= 2 + extra else { break }
            if extra > 0 { count = rest.dropFirst(2).prefix(extra).reduce(0) { $0 << 8 | Int($1) } }
            head += extra
            guard rest.count >= head + count else { break }
            messages.append((opcode, String(decoding: rest.dropFirst(head).prefix(count), as: UTF8.self)))
            rest = rest.dropFirst(head + count)
        }
        return messages
    }

    /// Waits for a message that contains all texts, and returns the message.
    func message(with texts: String...) async -> String? {
        let found: @Sendable (RawClient.Received) -> String? = { received in
            Self.messages(received).map(\.text).first { text in texts.allSatisfy(text.contains) }
        }
        guard await client.received.wait(until: { found($0) != nil }) else { return nil }
        return found(client.received.value)
    }

    func isClosed() async -> Bool { await client.received.wait(until: \.isClosed) }
}
