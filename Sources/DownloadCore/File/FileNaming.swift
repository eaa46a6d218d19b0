/// Makes safe file names from the names that users and servers give.
///
/// All functions compare Unicode scalars and bytes, because the kernel compares bytes. In a comparison of `Character`
/// values, a slash with a combining mark would not be equal to a slash.
package enum FileNaming {
    /// The greatest length of a finished file's name in bytes. With `.part` it fits in the 255 bytes that Linux allows.
    package static let longest = 250

    /// Returns the name of the finished file. The first usable name is taken from `filename*`, `filename` and the last
    /// path segment of the final URL, in this order. Without one, the name is `download`.
    package static func name(contentDisposition: String?, url: SourceURL) -> String {
        let disposition = contentDisposition.flatMap { ContentDisposition(fieldValue: $0) }
        return disposition?.extendedFileName.flatMap(sanitized)
            ?? disposition?.plainFileName.flatMap(sanitized)
            ?? name(fromPath: url.path)
            ?? "download"
    }

    /// Returns the last segment of a percent-encoded URL path as a safe name, or nil if the segment has no usable
    /// character. A segment that does not decode to UTF-8 stays encoded.
    package static func name(fromPath path: String) -> String? {
        var path = path
        return path.withUTF8 { bytes in
            let slash = UInt8(ascii: "/")
            guard let end = bytes.lastIndex(where: { $0 != slash }) else { return nil }
            let start = bytes[..<end].lastIndex(of: slash).map { $0 + 1 } ?? 0
            let segment = bytes[start...end]
            let isEncoded = segment.contains(UInt8(ascii: "%"))
            let decoded =
                isEncoded ? segment.percentDecoded.flatMap { String(validating: $0, as: UTF8.self) } : nil
            return sanitized(decoded ?? String(decoding: segment, as: UTF8.self))
        }
    }

    /// Changes a text into one safe path component. Returns nil if no character of the text can be kept.
    package static func sanitized(_ text: String) -> String? {
        if isPlain(text) { return text }
        let component = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? Substring.UnicodeScalarView()
        let name = trimmingEnd(visible(component).drop { $0 == "." || $0 == "~" || isBlank($0) })
        return name.isEmpty ? nil : shortened(String(name), to: longest)
    }

    /// Returns whether a name from the user can be used without changes. Such a name is one path component, and with
    /// `.part` it is not too long.
    package static func isUsable(_ name: String) -> Bool {
        (1...longest).contains(name.utf8.count) && name != "." && name != ".."
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }

    /// Returns the alternative name with this number, such as `name (1).ext`; the name itself for 0. An alternative has
    /// at most ``longest`` bytes and keeps the extension.
    package static func alternative(_ name: String, _ count: Int) -> String {
        if count == 0 { return name }
        let (stem, suffix) = parts(name)
        return shortened(stem, suffix: " (\(count))\(suffix)", to: longest)
    }

    /// Returns `folder/name`.
    package static func path(_ folder: String, _ name: String) -> String {
        folder.isEmpty || folder.utf8.last == UInt8(ascii: "/") ? folder + name : "\(folder)/\(name)"
    }

    /// Returns whether a path has the same bytes as ``path(_:_:)`` of the folder and the name.
    package static func isPath(_ path: String, of name: String, in folder: String) -> Bool {
        var (path, joined) = (path, Self.path(folder, name))
        // A comparison of the two views of UTF-8 is slower, and there is one for each small file.
        return path.withUTF8 { path in joined.withUTF8 { $0.elementsEqual(path) } }
    }

    /// Returns the part of a path after the last slash.
    package static func lastComponent(_ path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// Returns whether a name ends in `.part`, like the names from ``partial(_:)``. A final name can also end in
    /// `.part`.
    package static func isPartial(_ name: String) -> Bool { name.utf8.suffix(5).elementsEqual(".part".utf8) }

    /// Returns the name of the partial file, which always differs from `name`. The result is shortened to fit in 255
    /// bytes.
    package static func partial(_ name: String) -> String {
        let ending = ".part"
        let partial = shortened(name, to: longest) + ending
        // Only a name that is longer than the limit can be equal to its partial name. Such a name is shortened further,
        // so that the two names differ.
        return partial == name ? shortened(name, to: longest - ending.utf8.count) + ending : partial
    }
}

extension FileNaming {
    /// Returns whether a character is invisible, so that a name can look like another name. These are control
    /// characters, bidirectional and other format characters, line separators and fillers.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isVariationSelector
        }
    }

    /// Returns the characters that can be seen, with the joiners (U+200C, U+200D) between letters of scripts that write
    /// them, and between emoji. A letter keeps at most 30 marks (UAX #15, Stream-Safe Text Format), because a longer
    /// pile hides the text beside it, and could not be cut to the length of a name. A black flag keeps the tags that
    /// make it the flag of a region: at most seven, and the end (UTS #51, ED-14a).
    private static func visible(_ scalars: Substring.UnicodeScalarView) -> String.UnicodeScalarView {
        var kept = String.UnicodeScalarView()
        var (joiner, marks, tags) = (Unicode.Scalar?.none, 0, [Unicode.Scalar]())
        for scalar in scalars {
            if (0xE0020...0xE007F).contains(scalar.value) {
                tags.append(scalar)
                if scalar == "\u{E007F}", kept.last == "\u{1F3F4}", (2...8).contains(tags.count) { kept += tags }
                continue
            }
            tags = []
            if (0x20...0x7E).contains(scalar.value) {
                (joiner, marks) = (nil, 0)
                kept.append(scalar)
            } else if isJoiner(scalar) {
                joiner = joiner ?? scalar
            } else if !isInvisible(scalar), hasBase(scalar, kept.last) {
                let isMark = [.nonspacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
                marks = isMark ? marks + 1 : 0
                if marks > 30 { continue }
                if let joiner, let last = kept.last, joins(last, joiner), joins(scalar, joiner) { kept.append(joiner) }
                joiner = nil
                kept.append(scalar)
            }
        }
        return kept
    }

    /// Returns whether a character is not a variation selector, or selects a form of the character before it: of an
    /// emoji, an ideograph, a Mongolian letter, or another letter or symbol that may have forms.
    private static func hasBase(_ scalar: Unicode.Scalar, _ base: Unicode.Scalar?) -> Bool {
        guard scalar.properties.isVariationSelector else { return true }
        guard let base else { return false }
        return switch scalar.value {
        case 0xFE0E, 0xFE0F: base.properties.isEmoji
        case 0x180B...0x180F: (0x1820...0x18AA).contains(base.value)
        case 0xE0100...: base.properties.isIdeographic
        default:
            [.otherLetter, .mathSymbol, .otherSymbol, .otherPunctuation].contains(base.properties.generalCategory)
                && !base.isASCII
        }
    }

    /// Returns whether a character shows nothing if no character is before it. U+2800 is a Braille cell without dots.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return properties.isWhitespace || properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
    }

    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200C}" || scalar == "\u{200D}" }

    /// Returns whether a joiner beside this character has a meaning, and is not only invisible.
    private static func joins(_ scalar: Unicode.Scalar, _ joiner: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isEmoji || scalar == "\u{FE0F}" { return joiner == "\u{200D}" && !scalar.isASCII }
        switch scalar.value {
        // Arabic to Sinhala, Myanmar, Khmer and Mongolian, Arabic forms, and the Brahmic scripts of plane 1.
        case 0x600...0xDFF, 0x1000...0x109F, 0x1780...0x18AF, 0xFB50...0xFDFF, 0xFE70...0xFEFC, 0x11000...0x11FFF:
            return properties.isAlphabetic || properties.canonicalCombiningClass != .notReordered
        default: return false
        }
    }

    /// Returns whether a name is printable ASCII that needs no change, like most names.
    private static func isPlain(_ text: String) -> Bool {
        guard (1...longest).contains(text.utf8.count), let first = text.utf8.first, let last = text.utf8.last else {
            return false
        }
        return !".~ ".utf8.contains(first) && !". ".utf8.contains(last)
            && text.utf8.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
            }
    }

    private static func trimmingEnd(_ scalars: some BidirectionalCollection<Unicode.Scalar>) -> String {
        let last = scalars.lastIndex { $0 != "." && !isJoiner($0) && !$0.properties.isWhitespace }
        return String(String.UnicodeScalarView(last.map { scalars[...$0].map(\.self) } ?? []))
    }

    /// Returns the name with at most `limit` bytes. Only the stem is shortened.
    private static func shortened(_ name: String, to limit: Int) -> String {
        if name.utf8.count <= limit { return name }
        let (stem, suffix) = parts(name)
        return shortened(stem, suffix: suffix, to: limit)
    }

    /// Returns `stem` and `suffix` as one name with at most `limit` bytes. The stem is cut between characters, or
    /// between Unicode scalars if its first character alone is too large.
    private static func shortened(_ stem: String, suffix: String, to limit: Int) -> String {
        let room = limit - suffix.utf8.count
        if stem.utf8.count <= room { return stem + suffix }
        var used = 0
        let characters = stem.prefix {
            used += $0.utf8.count
            return used <= room
        }
        if !characters.isEmpty { return trimmingEnd(characters.unicodeScalars) + suffix }
        used = 0
        let scalars = stem.unicodeScalars.prefix {
            used += $0.utf8.count
            return used <= room
        }
        return trimmingEnd(scalars) + suffix
    }

    /// The maximum length of an extension, in bytes, including the dot.
    private static let longestExtension = 24

    /// Divides a name into stem and extension: `a.tar.gz` into `a` and `.tar.gz`. A leading dot does not begin an
    /// extension, and an extension has no space.
    private static func parts(_ name: String) -> (stem: String, suffix: String) {
        let scalars = name.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), dot != scalars.startIndex else { return (name, "") }
        let suffix = scalars[dot...]
        guard (2...longestExtension).contains(Substring(suffix).utf8.count),
            !suffix.contains(where: \.properties.isWhitespace)
        else { return (name, "") }
        let stem = scalars[..<dot]
        let tar = stem.suffix(4)
        if tar.count == 4, tar.startIndex > stem.startIndex, String(tar).utf8.lowercasedASCII == ".tar" {
            return (String(stem.dropLast(4)), String(tar) + String(suffix))
        }
        return (String(stem), String(suffix))
    }
}
