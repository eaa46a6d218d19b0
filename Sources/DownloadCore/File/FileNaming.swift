/// Turns what users and servers call a file into one safe path component.
///
/// Everything here looks at scalars and bytes, as the kernel does: to a `Character` a slash with a combining mark is
/// no slash.
package enum FileNaming {
    /// The longest name of a finished file in bytes: with `.part` it fits in the 255 that Linux allows.
    package static let longest = 250

    /// A name for the final file; see CONTRACT "Files". Order: `filename*`, `filename`, the last path segment of the
    /// final URL, `download`.
    package static func name(contentDisposition: String?, url: SourceURL) -> String {
        let disposition = contentDisposition.flatMap { ContentDisposition(fieldValue: $0) }
        return disposition?.extendedFileName.flatMap(sanitized)
            ?? disposition?.plainFileName.flatMap(sanitized)
            ?? name(fromPath: url.path)
            ?? "download"
    }

    /// The last segment of a percent-encoded URL path as a safe name; nil when nothing usable is there. What does not
    /// decode to UTF-8 stays encoded.
    package static func name(fromPath path: String) -> String? {
        let slash = UInt8(ascii: "/")
        guard let end = path.utf8.lastIndex(where: { $0 != slash }) else { return nil }
        let start = path.utf8[..<end].lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.utf8.startIndex
        let segment = path.utf8[start...end]
        if !segment.contains(UInt8(ascii: "%")) { return sanitized(String(Substring(segment))) }
        let decoded = segment.percentDecoded.flatMap { String(validating: $0, as: UTF8.self) }
        return sanitized(decoded ?? String(Substring(segment)))
    }

    /// One path component out of any text; nil when nothing is left.
    package static func sanitized(_ text: String) -> String? {
        if isPlain(text) { return text }
        let component = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? Substring.UnicodeScalarView()
        let visible = component.filter { !isInvisible($0) }
        let name = trimmingEnd(visible.drop { $0 == "." || $0 == "~" || $0.properties.isWhitespace })
        return name.isEmpty ? nil : shortened(String(name), to: longest)
    }

    /// True when a name that the user gives can be taken as it is: one plain component that leaves room for `.part`.
    package static func isUsable(_ name: String) -> Bool {
        (1...longest).contains(name.utf8.count) && name != "." && name != ".."
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }

    /// `name (1).ext`: the `count`-th alternative, at most ``longest`` bytes with its extension kept.
    package static func alternative(_ name: String, _ count: Int) -> String {
        let (stem, suffix) = parts(name)
        return shortened(stem, suffix: " (\(count))\(suffix)", to: longest)
    }

    /// `folder/name`.
    package static func path(_ folder: String, _ name: String) -> String {
        folder.isEmpty || folder.utf8.last == UInt8(ascii: "/") ? folder + name : "\(folder)/\(name)"
    }

    /// Returns whether a path is that of ``path(_:_:)``, without making that.
    package static func isPath(_ path: String, of name: String, in folder: String) -> Bool {
        let (path, name, folder) = (path.utf8, name.utf8, folder.utf8)
        let slashes = folder.isEmpty || folder.last == UInt8(ascii: "/") ? 0 : 1
        return path.count == folder.count + slashes + name.count && path.starts(with: folder)
            && path.dropFirst(folder.count).starts(with: slashes == 0 ? "".utf8 : "/".utf8)
            && path.suffix(name.count).elementsEqual(name)
    }

    /// What follows the last slash.
    static func lastComponent(_ path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// True for what ``partial(_:)`` makes, and for a final name that looks the same.
    static func isPartial(_ name: String) -> Bool { name.utf8.suffix(5).elementsEqual(".part".utf8) }

    /// The name of the partial file, never `name` itself; `name` is shortened so that it fits in 255 bytes.
    package static func partial(_ name: String) -> String {
        let ending = ".part"
        let partial = shortened(name, to: longest) + ending
        // Only a name above the limit can come back; with the ending it is then shorter than it was.
        return partial == name ? shortened(name, to: longest - ending.utf8.count) + ending : partial
    }
}

extension FileNaming {
    /// Controls, bidirectional and other format characters, line separators, fillers: what changes how a name looks
    /// without being seen. Variation selectors stay: they are part of the character before them.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isVariationSelector
        }
    }

    /// True for what most names are: printable ASCII that needs no change.
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
        let last = scalars.lastIndex { $0 != "." && !$0.properties.isWhitespace }
        return String(String.UnicodeScalarView(last.map { scalars[...$0].map(\.self) } ?? []))
    }

    /// At most `limit` bytes, taken from the stem.
    private static func shortened(_ name: String, to limit: Int) -> String {
        if name.utf8.count <= limit { return name }
        let (stem, suffix) = parts(name)
        return shortened(stem, suffix: suffix, to: limit)
    }

    /// As much of `stem` as fits before `suffix`, cut between characters, or between the scalars of one that is too
    /// large alone.
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

    /// The longest ending that counts as an extension, in bytes with its dot.
    private static let longestExtension = 24

    /// `a.tar.gz` is `a` and `.tar.gz`; a leading dot begins no extension, and one with a space in it is none.
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
