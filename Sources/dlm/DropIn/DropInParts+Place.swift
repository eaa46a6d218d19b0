import Foundation

/// The names and folders of the files, and the options for a name that already exists.
extension DropInParts {
    /// Returns the name that wget and curl give the file: the last part of the URL's path, and for wget also the query.
    /// Returns nil if dlm must choose the name, for example because the server's name is requested. The name never
    /// leads to another folder.
    func named(_ url: String) -> Output? {
        if options.contains("--content-disposition") { return nil }
        let rest = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        // Bytes are compared, because a slash with a combining mark after it is a different `Character`.
        let whole = rest.utf8.prefix { $0 != UInt8(ascii: "#") }
        let path = whole.prefix { $0 != UInt8(ascii: "?") }
        var name = path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[path.index(after: $0)...]) } ?? []
        if program == .wget {
            if name.isEmpty { name = Array("index.html".utf8) }
            name = Self.local(name + whole.dropFirst(path.count))
        }
        let text = String(decoding: name, as: UTF8.self)
        if text.isEmpty || text == "." || text == ".." { return nil }
        // A URL with a pattern is expanded later, and each expanded URL gets its own name.
        if name.contains(where: { "[{".utf8.contains($0) }) { return nil }
        return .file(text == "-" ? "./-" : text)
    }

    /// Returns a part of a URL as wget writes it in a file name: percent-decoded, except for slashes and control
    /// characters. A part that would not be UTF-8 after decoding stays encoded.
    private static func local(_ quoted: [UInt8]) -> [UInt8] {
        var name: [UInt8] = []
        var index = 0
        while index < quoted.count {
            let digits = quoted[(index + 1)...].prefix(2)
            if quoted[index] == UInt8(ascii: "%"), digits.count == 2,
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), byte > 0x1F, byte != 0x7F,
                byte != UInt8(ascii: "/")
            {
                name.append(byte)
                index += 3
            } else {
                name += quoted[index] == UInt8(ascii: "/") ? Array("%2F".utf8) : [quoted[index]]
                index += 1
            }
        }
        return String(validating: name, as: UTF8.self) == nil ? quoted.filter { $0 != UInt8(ascii: "/") } : name
    }

    static func isStream(_ output: Output) -> Bool {
        [.file("-"), .file("/dev/stdout"), .file("/dev/null")].contains(output)
    }

    /// Returns whether the output of a command line is discarded, because the user gave /dev/null.
    /// - Parameter line: The index in ``lines()``.
    func discards(_ line: Int) -> Bool {
        let output = program == .curl ? outputs.dropFirst(line).first : outputs.last
        return output == .file("/dev/null")
    }

    /// Returns the options for the file's folder and name, and for a name that already exists.
    func placed(_ output: Output?, _ takenWords: [String]) -> [String] {
        let folder = texts[.folder]
        guard case .file(let name)? = output else { return takenWords + Self.words("--directory", folder ?? ".") }
        if Self.isStream(.file(name)) { return ["--output", "-"] }
        // With -O, wget ignores the folder of -P.
        guard let folder, program != .wget || outputs.isEmpty else {
            return takenWords + (name.hasPrefix("/") ? [] : ["--directory", "."]) + Self.words("--output", name)
        }
        // aria2 appends the name to the folder, even if the name begins with a slash: -d / -o /a/b is /a/b.
        let relative = name.drop { $0 == "/" }
        return takenWords + Self.words("--directory", folder) + Self.words("--output", String(relative))
    }

    var takenWords: [String] {
        if isOn(.continues) { return ["--continue"] }
        if isOn(.newerOnly) { return ["--if-exists", "newer"] }
        if isOn(.skipsExisting) { return ["--if-exists", "skip"] }
        switch program {
        case .aria2c:
            if isOn(.overwrites) { return ["--if-exists", "overwrite"] }
            return ["--if-exists", isOn(.renames, usually: true) ? "rename" : "fail"]
        case .wget: return ["--if-exists", outputs.isEmpty ? "rename" : "overwrite"]
        case .curl: return ["--if-exists", isOn(.renames) ? "rename" : "overwrite"]
        }
    }
}
