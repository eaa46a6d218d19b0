/// The number of columns that text occupies on a terminal, like wcwidth(3), but independent of the locale.
enum DisplayWidth {
    /// Returns the width of a text in columns. Colour sequences (`ESC [ ... m`) take no column.
    static func of(_ text: String) -> Int {
        var width = 0
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\u{1B}" {
                rest = rest.drop { $0 != "m" }.dropFirst()
            } else {
                width += of(character)
            }
        }
        return width
    }

    /// Returns the text, at most `columns` wide. A part in the middle of a longer text is replaced by `…`, so that the
    /// extension of a file name stays visible.
    static func cut(_ text: String, to columns: Int) -> String {
        guard of(text) > columns else { return text }
        guard columns > 1 else { return columns == 1 ? "…" : "" }
        let tail = columns >= 12 ? (columns - 1) / 3 : 0
        let end = String(prefix(of: text.reversed(), to: tail).reversed())
        return String(prefix(of: Array(text), to: columns - 1 - of(end))) + "…" + end
    }

    /// Returns the text, at most `columns` wide. The end of a longer text is replaced by `…`.
    static func cutEnd(_ text: String, to columns: Int) -> String {
        guard of(text) > columns else { return text }
        return columns < 1 ? "" : String(prefix(of: Array(text), to: columns - 1)) + "…"
    }

    static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - of(text)))
    }

    static func rightAligned(_ text: String, to columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - of(text))) + text
    }

    private static func prefix(of characters: [Character], to columns: Int) -> [Character] {
        var left = columns
        return Array(
            characters.prefix {
                left -= of($0)
                return left >= 0
            })
    }

    private static func of(_ character: Character) -> Int {
        if character.isASCII { return 1 }
        let scalars = character.unicodeScalars
        if scalars.contains(where: isWide) { return 2 }
        return scalars.count { !isZero($0) }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        // U+FE0F (variation selector 16) asks for the coloured form of a character, which is wide.
        scalar == "\u{FE0F}" || scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) }
    }

    private static func isZero(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    /// East Asian Width W and F (Unicode Standard Annex 11), in blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x1F300...0x1F320, 0x1F900...0x1F9FF,
        0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]
}
