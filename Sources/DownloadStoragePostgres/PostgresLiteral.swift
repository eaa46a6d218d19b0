/// The text forms of values for PostgreSQL.
enum PostgresLiteral {
    static func array(_ numbers: some Sequence<some BinaryInteger>) -> String {
        "{" + numbers.map { String($0) }.joined(separator: ",") + "}"
    }

    /// Returns an array of texts; nil becomes NULL.
    static func array(_ texts: some Sequence<String?>) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for text in texts {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            guard let text else {
                bytes += "NULL".utf8
                continue
            }
            bytes.append(UInt8(ascii: "\""))
            for byte in text.utf8 where byte != 0 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a line of COPY's text format (PostgreSQL's manual, COPY); nil becomes NULL.
    static func appendLine(_ values: [String?], to bytes: inout [UInt8]) {
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "\t")) }
            guard let value else {
                bytes += "\\N".utf8
                continue
            }
            // PostgreSQL's texts cannot contain zero bytes.
            for byte in value.utf8 where byte != 0 {
                switch byte {
                case UInt8(ascii: "\\"): bytes += "\\\\".utf8
                case UInt8(ascii: "\t"): bytes += "\\t".utf8
                case UInt8(ascii: "\n"): bytes += "\\n".utf8
                case UInt8(ascii: "\r"): bytes += "\\r".utf8
                default: bytes.append(byte)
                }
            }
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}
