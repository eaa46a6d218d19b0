/// The escaping that makes text from servers and users harmless for terminals.
enum Escaping {
    /// Returns the text as one line. Control characters (C0, DEL, C1), line separators and bidirectional controls
    /// become escapes such as `\x1b` or `\u202e`.
    static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isDangerous) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isDangerous(scalar) {
                result += scalar.value < 0x100 ? "\\x" + hex(scalar, digits: 2) : "\\u" + hex(scalar, digits: 4)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Escapes the same characters as ``line(_:)`` in text that is already JSON on one line. A JSON parser turns the
    /// escape `\u009b` back into the character.
    static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isDangerous) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isDangerous(scalar) {
                result += "\\u" + hex(scalar, digits: 4)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func hex(_ scalar: Unicode.Scalar, digits: Int) -> String {
        let text = String(scalar.value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
