/// A key that the user pressed on the terminal, or another input of the terminal.
enum Key: Equatable, Sendable {
    case character(Character)
    case up, down, pageUp, pageDown, home, end
    case wheelUp, wheelDown
    case enter, tab, backspace, escape
    /// The key that deletes the whole line (Ctrl-U).
    case deleteLine
    /// Text that was pasted (bracketed paste). It is never read as keys.
    case paste(String)
}

/// The decoder from the bytes of a terminal to keys. A sequence may be split anywhere between two reads.
///
/// The sequences are those of xterm (ctlseqs, "PC-Style Function Keys", "SGR Mouse Mode", "Bracketed Paste Mode").
/// Unknown sequences are skipped as a whole, so that their letters are not read as keys.
struct KeyDecoder {
    private enum State: Equatable {
        case ground
        /// After ESC.
        case escape
        /// After ESC [ or ESC O, with the bytes that followed.
        case sequence([UInt8])
        /// In a string sequence (OSC, DCS, APC), which ends with BEL or ESC \.
        case string
        case paste
        /// In a character of several bytes, with the number of missing bytes.
        case character([UInt8], missing: Int)
    }

    private static let pasteEnd = Array("\u{1B}[201~".utf8)
    /// The longest sequence that is kept, in bytes.
    private static let longestSequence = 64
    /// The longest paste that is kept, in bytes.
    private static let longestPaste = 1 << 20

    private var state = State.ground
    /// The bytes of the paste that has begun. They are no part of the state, because they would be copied at each byte.
    private var pasted: [UInt8] = []

    /// Whether the last byte was an ESC. If no byte follows soon, it was the Escape key; see ``timeOut()``.
    var isWaiting: Bool { state == .escape }

    /// Whether the last byte was inside a sequence or a character. A key with Alt looks like the beginning of one.
    var isInside: Bool { state != .ground && state != .paste }

    /// Ends what has begun, unless it is a paste. Returns the Escape key if ``isWaiting``.
    mutating func timeOut() -> Key? {
        guard isInside else { return nil }
        defer { state = .ground }
        return isWaiting ? .escape : nil
    }

    mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
        bytes.reduce(into: []) { keys, byte in if let key = next(byte) { keys.append(key) } }
    }

    private mutating func next(_ byte: UInt8) -> Key? {
        let current = state
        state = .ground
        switch current {
        case .ground: return begin(byte)
        case .escape: return escaped(byte)
        case .sequence(let bytes): return sequence(bytes, byte)
        case .string: state = byte == 0x07 ? .ground : byte == 0x1B ? .escape : .string
        case .paste: return paste(byte)
        case .character(var bytes, let missing):
            guard byte & 0xC0 == 0x80 else { return begin(byte) }
            bytes.append(byte)
            if missing > 1 { state = .character(bytes, missing: missing - 1) } else { return Self.character(bytes) }
        }
        return nil
    }

    private mutating func begin(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x1B: state = .escape
        case 0x0A, 0x0D: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x15: return .deleteLine
        case 0x20..<0x7F: return .character(Character(UnicodeScalar(byte)))
        case 0xC2...0xDF: state = .character([byte], missing: 1)
        case 0xE0...0xEF: state = .character([byte], missing: 2)
        case 0xF0...0xF4: state = .character([byte], missing: 3)
        default: return nil
        }
        return nil
    }

    private mutating func paste(_ byte: UInt8) -> Key? {
        pasted.append(byte)
        // Only the beginning of a longer paste is kept, and as many of its last bytes as are needed to find its end.
        if pasted.count > Self.longestPaste + Self.pasteEnd.count { pasted.remove(at: Self.longestPaste) }
        guard byte == Self.pasteEnd.last, pasted.suffix(Self.pasteEnd.count) == Self.pasteEnd[...] else {
            state = .paste
            return nil
        }
        defer { pasted = [] }
        return .paste(String(decoding: pasted.dropLast(Self.pasteEnd.count), as: UTF8.self))
    }

    private mutating func escaped(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "O"): state = .sequence([])
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"): state = .string
        // Two ESC: the first was the Escape key.
        case 0x1B:
            state = .escape
            return .escape
        // ESC before another byte is that key with Alt, or the end of a string sequence. Such keys mean nothing here.
        default: break
        }
        return nil
    }

    private mutating func sequence(_ bytes: [UInt8], _ byte: UInt8) -> Key? {
        switch byte {
        case 0x20..<0x40:
            state = .sequence(bytes.count < Self.longestSequence ? bytes + [byte] : bytes)
            return nil
        case 0x1B:
            state = .escape
            return nil
        case 0x40...0x7E: break
        default: return nil
        }
        let text = String(decoding: bytes, as: UTF8.self)
        switch byte {
        case UInt8(ascii: "~"):
            if text == "200" { state = .paste }
            return Self.numbers[text.prefix { $0 != ";" }]
        case UInt8(ascii: "M") where text.hasPrefix("<"):
            return text.hasPrefix("<64;") ? .wheelUp : text.hasPrefix("<65;") ? .wheelDown : nil
        default: return Self.letters[byte]
        }
    }

    private static let letters: [UInt8: Key] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "H"): .home, UInt8(ascii: "F"): .end,
        UInt8(ascii: "M"): .enter,
    ]

    private static let numbers: [Substring: Key] = [
        "1": .home, "7": .home, "4": .end, "8": .end, "5": .pageUp, "6": .pageDown,
    ]

    /// Returns the character, or nil if the bytes are no UTF-8, or no character that can be typed.
    private static func character(_ bytes: [UInt8]) -> Key? {
        guard let text = String(validating: bytes, as: UTF8.self), text.count == 1, Escaping.line(text) == text else {
            return nil
        }
        return text.first.map(Key.character)
    }
}
