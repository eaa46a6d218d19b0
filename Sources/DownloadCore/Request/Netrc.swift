/// The names and passwords of a netrc file by host, as ftp(1) and curl read them from `~/.netrc`.
package struct Netrc: Sendable, Equatable {
    private struct Entry: Equatable {
        /// The host, or nil for `default`.
        var machine: String?
        var login: String?
        var password: String?
    }

    private var entries: [Entry] = []

    /// Parses the text of a netrc file. Unknown words are skipped, as other programs do.
    package init(_ bytes: [UInt8]) {
        var words = Words(bytes)
        while let word = words.next() {
            switch word {
            case "machine": entries.append(Entry(machine: words.next()?.lowercased() ?? ""))
            case "default": entries.append(Entry())
            case "login": if let name = words.next(), !entries.isEmpty { entries[entries.count - 1].login = name }
            case "password": if let word = words.next(), !entries.isEmpty { entries[entries.count - 1].password = word }
            case "account": _ = words.next()
            case "macdef": words.skipMacro()
            default: break
            }
        }
    }

    /// Returns the credential for a host.
    /// - Parameters:
    ///   - user: The user whose password is needed. Nil for the first user of the host.
    ///   - allowsDefault: Whether the entry without a host may be used.
    func credential(for host: String, user: String? = nil, allowsDefault: Bool) -> Credential? {
        func fits(_ entry: Entry) -> Bool { user == nil || entry.login == user }
        let entry =
            entries.first { $0.machine == host && fits($0) }
            ?? (allowsDefault ? entries.first { $0.machine == nil && fits($0) } : nil)
        guard let entry, let login = entry.login ?? user else { return nil }
        return Credential(user: login, password: entry.password ?? "")
    }

    var passwords: [String] { entries.compactMap(\.password) }

    /// The words of the file, separated by white space. A word in double quotes may contain white space, and escapes as
    /// in C.
    private struct Words {
        private var rest: ArraySlice<UInt8>
        private var isAtLineStart = true

        init(_ bytes: [UInt8]) { rest = bytes[...] }

        mutating func next() -> String? {
            skipSpace()
            guard let first = rest.first else { return nil }
            if first == UInt8(ascii: "\"") {
                let known: [UInt8: UInt8] = [UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9]
                return String(decoding: rest.popQuoted { known[$0] ?? $0 }.bytes, as: UTF8.self)
            }
            let word = rest.prefix { !$0.isSpace }
            rest = rest.dropFirst(word.count)
            return String(decoding: word, as: UTF8.self)
        }

        /// Skips a macro, which ends at an empty line.
        mutating func skipMacro() {
            let newline = UInt8(ascii: "\n")
            while let end = rest.firstIndex(of: newline) {
                rest = rest[(end + 1)...]
                if rest.first == newline { return }
            }
            rest = []
        }

        /// Skips white space and comments. A comment takes a whole line.
        private mutating func skipSpace() {
            while let byte = rest.first {
                if byte == UInt8(ascii: "#"), isAtLineStart {
                    rest = rest.drop { $0 != UInt8(ascii: "\n") }
                } else if byte.isSpace {
                    isAtLineStart = byte == UInt8(ascii: "\n")
                    rest.removeFirst()
                } else {
                    isAtLineStart = false
                    return
                }
            }
        }
    }
}
