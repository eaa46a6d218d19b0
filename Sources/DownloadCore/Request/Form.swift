/// Percent-encoding for forms and queries. All bytes except unreserved characters are encoded (RFC 3986 section 2.3),
/// as curl does.
package enum Form {
    package static func encoded(_ text: some StringProtocol) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes: [UInt8] = text.utf8.reduce(into: []) { bytes, byte in
            if byte.isLetterOrDigit || "-._~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
