import Foundation

/// Where the files of a foreign command line go, and what is done where a name is taken.
extension DropInParts {
    /// The name that wget and curl give the file: that of the URL, unless the server's is asked for. The name never leads to
    /// another folder, whatever the URL has in it.
    func named(_ url: String) -> Output? {
        if options.contains("--content-disposition") { return nil }
        let rest = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        // By bytes: a mark behind a slash makes another character of it.
        let whole = rest.utf8.prefix { $0 != UInt8(ascii: "#") }
        let path = whole.prefix { $0 != UInt8(ascii: "?") }
        var name = path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[path.index(after: $0)...]) } ?? []
        if program == .wget {
            if name.isEmpty { name = Array("index.html".utf8) }
            name = Self.local(name + whole.dropFirst(path.count))
        }
        let text = String(decoding: name, as: UTF8.self)
        if text.isEmpty || text == "." || text == ".." { return nil }
        // Patterns are divided later, and each gets its own name.
        if name.contains(where: { "[{".utf8.contains($0) }) { return nil }
        return .file(text == "-" ? "./-" : text)
    }

    /// A part of a URL as the name of a file, as wget has it: without quotes, but for slashes and control characters.
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

    /// Whether the body of a line goes to /dev/null.
    func discards(_ line: Int) -> Bool {
        let output = program == .curl ? outputs.dropFirst(line).first : outputs.last
        return output == .file("/dev/null")
    }

    /// Where the file goes, and what is done where it is there.
    func placed(_ output: Output?, _ takenWords: [String]) -> [String] {
        guard case .file(let name)? = output else { return takenWords + Self.words("--directory", folder ?? ".") }
        if Self.isStream(.file(name)) { return ["--output", "-"] }
        // wget gives folders no meaning for -O.
        guard let folder, program != .wget || outputs.isEmpty else {
            return takenWords + (name.hasPrefix("/") ? [] : ["--directory", "."]) + Self.words("--output", name)
        }
        // aria2 puts the name behind the folder, whatever the name begins with: -d / -o /a/b is /a/b.
        let relative = name.drop { $0 == "/" }
        return takenWords + Self.words("--directory", folder) + Self.words("--output", String(relative))
    }

    var takenWords: [String] {
        if taken.continues { return ["--continue"] }
        if taken.newerOnly { return ["--if-exists", "newer"] }
        if taken.skips { return ["--if-exists", "skip"] }
        switch program {
        case .aria2c:
            if taken.overwrites ?? false { return ["--if-exists", "overwrite"] }
            return ["--if-exists", taken.renames ?? true ? "rename" : "fail"]
        case .wget: return ["--if-exists", outputs.isEmpty ? "rename" : "overwrite"]
        case .curl: return ["--if-exists", taken.renames ?? false ? "rename" : "overwrite"]
        }
    }
}
