/// Options of curl, wget and aria2 that are called otherwise here, for those whose fingers know them.
enum ForeignOption {
    /// Nil for what nobody knows, or what the command has nothing like.
    static func meaning(of option: String, in names: [String]) -> String? {
        exactMeaning(of: option, in: names) ?? attachedMeaning(of: option, in: names)
    }

    /// Of short options in one word, as in `-s16`, `-qO-` or `-sSL`: the first one that is known here.
    private static func attachedMeaning(of word: String, in names: [String]) -> String? {
        guard word.count > 2, word.hasPrefix("-"), !word.hasPrefix("--"), names.contains("output") else { return nil }
        let isNumber = word.dropFirst(2).first?.isNumber ?? false
        if word.hasPrefix("-k"), isNumber { return "dlm divides files by itself; leave it out" }
        if word.hasPrefix("-s"), !isNumber { return "here it is '--quiet'" }
        // Letters of dlm's own before it.
        let letters = word.dropFirst().drop { "46bckqv".contains($0) }
        guard let letter = letters.first else { return nil }
        if let name = same["-\(letter)"], names.contains(name) {
            return "here it is '--\(name)\(letters.count > 1 ? " \(letters.dropFirst())" : "")'"
        }
        return needless["-\(letter)"]
    }

    private static func exactMeaning(of option: String, in names: [String]) -> String? {
        if let name = same[option], names.contains(name) { return "here it is '--\(name)'" }
        if let (name, value) = valued[option], names.contains(name) { return "here it is '--\(name) \(value)'" }
        guard names.contains("output") else { return nil }
        return needless[option] ?? tableMeaning(of: option)
    }

    /// What the tables of other programs' options say of a long option.
    private static func tableMeaning(of option: String) -> String? {
        guard option.hasPrefix("--") else { return nil }
        for program in DropInProgram.allCases {
            guard let found = program.options.first(where: { $0.names.contains(option) }) else { continue }
            switch found.effect {
            case .option(let name, _): return "here it is '--\(name)'"
            case .words(let words): return "here it is '\(words.joined(separator: " "))'"
            case .either(let on, let off): return "here it is '\((on.isEmpty ? off : on).joined(separator: " "))'"
            case .part(let part): return part.hint
            case .needless(let why): return "\(why); leave it out"
            case .ignored(let why), .refused(let why): return why
            }
        }
        return nil
    }

    /// All that are known here.
    static var all: [String] { Array(same.keys) + Array(valued.keys) + Array(needless.keys) }

    private static let same = [
        "-O": "output", "--out": "output", "--output-document": "output", "-P": "directory", "--dir": "directory",
        "--directory-prefix": "directory", "--output-dir": "directory", "-s": "connections", "--split": "connections",
        "--max-connection-per-server": "connections", "--parallel-max": "max-concurrent",
        "--max-concurrent-downloads": "max-concurrent",
        "--max-threads": "max-concurrent", "--max-overall-download-limit": "limit-rate", "-t": "retries",
        "--tries": "retries", "--max-tries": "retries", "--retry": "retries", "--waitretry": "retry-delay",
        "--retry-wait": "retry-delay", "-m": "max-time", "-T": "stall-timeout", "--timeout": "stall-timeout",
        "--read-timeout": "stall-timeout", "--speed-time": "stall-timeout", "--no-check-certificate": "insecure",
        "--cacert": "ca-certificate", "--cert": "certificate", "--key": "private-key",
        "--pinnedpubkey": "pinned-public-key", "--knownhosts": "known-hosts",
        "--crlfile": "crl-file", "--post-data": "data", "--request": "method", "--cookie": "cookie-file",
        "--load-cookies": "cookie-file", "--save-cookies": "cookie-jar",
        "--max-redirs": "max-redirects", "--max-redirect": "max-redirects", "--max-filesize": "max-size",
        "--noproxy": "no-proxy", "--all-proxy": "proxy",
        "--remote-header-name":
            "content-disposition", "-J": "content-disposition", "--http-user": "user",
    ]

    private static let valued = [
        "-nc": ("if-exists", "skip"), "--no-clobber": ("if-exists", "skip"), "--skip-existing": ("if-exists", "skip"),
        "-N": ("if-exists", "newer"), "--timestamping": ("if-exists", "newer"),
        "--conditional-get": ("if-exists", "newer"), "--time-cond": ("if-exists", "newer"),
        "--allow-overwrite": ("if-exists", "overwrite"), "--auto-file-renaming": ("if-exists", "rename"),
        "--no-progress-meter": ("progress", "none"), "--progress-bar": ("progress", "bar"),
    ]

    /// What dlm does anyway.
    private static let needless = [
        "-L": "redirects are followed without it", "--location": "redirects are followed without it",
        "--remote-name": "the server's name is taken without it", "-f": "an error status is an error without it",
        "--fail": "an error status is an error without it", "-C": "an unfinished file is continued without it",
        "--continue-at": "an unfinished file is continued without it",
        "--parallel": "several URLs are fetched at once without it",
        "-S": "errors are shown without it", "--show-error": "errors are shown without it",
    ]
}
