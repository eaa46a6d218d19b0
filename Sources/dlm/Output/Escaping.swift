import DownloadKit

/// The escaping that makes text from servers and users harmless for terminals.
enum Escaping {
    /// Returns the text as one line. Control characters (C0, DEL, C1), line separators and bidirectional controls
    /// become escapes such as `\x1b` or `\u202e`.
    static func line(_ text: String) -> String {
        escaped(text) { $0 < 0x100 ? "\\x" + $0.padded(2, radix: 16) : "\\u" + $0.padded(4, radix: 16) }
    }

    /// Escapes the same characters as ``line(_:)`` in text that is already JSON on one line. A JSON parser turns the
    /// escape `\u009b` back into the character.
    static func json(_ text: String) -> String { escaped(text) { "\\u" + $0.padded(4, radix: 16) } }

    private static func escaped(_ text: String, _ escape: (UInt32) -> String) -> String {
        guard text.unicodeScalars.contains(where: isDangerous) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if isDangerous(scalar) { result += escape(scalar.value) } else { result.unicodeScalars.append(scalar) }
        }
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
