/// A frame of HTTP/2 (RFC 9113, section 4) with any content. It may announce a wrong length.
package struct HTTP2Frame: Sendable {
    package var type: UInt8
    package var flags: UInt8 = 0
    package var stream: UInt32 = 0
    package var payload: [UInt8] = []
    /// The length of the payload that the head of the frame announces. Nil means the true length.
    package var claimedLength: Int?

    package init(
        type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = [], claimedLength: Int? = nil
    ) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
        self.claimedLength = claimedLength
    }

    package var bytes: [UInt8] {
        let length = UInt32(claimedLength ?? payload.count)
        return [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
            + Self.bigEndian(stream) + payload
    }

    /// Takes the first whole frame from the bytes. Returns nil if there is no whole frame yet.
    static func take(from pending: inout [UInt8]) -> HTTP2Frame? {
        guard pending.count >= 9 else { return nil }
        let length = Int(pending[0]) << 16 | Int(pending[1]) << 8 | Int(pending[2])
        guard pending.count >= 9 + length else { return nil }
        let frame = HTTP2Frame(
            type: pending[3], flags: pending[4], stream: number(pending[5..<9]) & 0x7FFF_FFFF,
            payload: Array(pending[9..<9 + length]))
        pending.removeFirst(9 + length)
        return frame
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    package static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    // MARK: Frames that a server sends

    package static let endStream: UInt8 = 1
    package static let endHeaders: UInt8 = 4
    package static let acknowledgement: UInt8 = 1

    package static func data(_ bytes: [UInt8], stream: UInt32, ends: Bool = false) -> HTTP2Frame {
        HTTP2Frame(type: 0, flags: ends ? endStream : 0, stream: stream, payload: bytes)
    }

    package static func headers(
        _ fields: [(name: String, value: String)], stream: UInt32, ends: Bool = false
    ) -> HTTP2Frame {
        HTTP2Frame(
            type: 1, flags: endHeaders | (ends ? endStream : 0), stream: stream,
            payload: fields.flatMap { field($0.name, $0.value) })
    }

    package static func reset(_ code: HTTP2ErrorCode, stream: UInt32) -> HTTP2Frame {
        HTTP2Frame(type: 3, stream: stream, payload: bigEndian(code.rawValue))
    }

    package static func settings(_ values: [(UInt16, UInt32)]) -> HTTP2Frame {
        HTTP2Frame(
            type: 4, payload: values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + bigEndian($0.1) })
    }

    package static func ping(_ value: UInt32 = 0) -> HTTP2Frame {
        HTTP2Frame(type: 6, payload: bigEndian(0) + bigEndian(value))
    }

    package static func goAway(_ code: HTTP2ErrorCode, lastStream: UInt32) -> HTTP2Frame {
        HTTP2Frame(type: 7, payload: bigEndian(lastStream) + bigEndian(code.rawValue))
    }

    /// Returns a literal field that enters no table, without Huffman's code (RFC 7541, section 6.2.2).
    package static func field(_ name: String, _ value: String) -> [UInt8] {
        [0] + text(name.lowercased()) + text(value)
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        var length: [UInt8] = [127]
        var rest = bytes.count - 127
        while rest >= 128 {
            length.append(UInt8(rest % 128) | 128)
            rest /= 128
        }
        return length + [UInt8(rest)] + bytes
    }
}

/// The error codes of HTTP/2 (RFC 9113, section 7).
package enum HTTP2ErrorCode: UInt32, Sendable {
    case noError = 0
    case internalError = 2
    case refusedStream = 7
    case cancel = 8
    case enhanceYourCalm = 11
}
