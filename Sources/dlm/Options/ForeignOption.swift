/// The options of curl, wget and aria2 that have other names in dlm, for hints in error messages.
enum ForeignOption {
    /// Returns the hint for an option of another program; nil if there is none.
    static func meaning(of option: String, in names: [String]) -> String? {
        exactMeaning(of: option, in: names) ?? attachedMeaning(of: option, in: names)
    }

    /// Returns the hint for a word with several short options or a value, such as `-s16`, `-qO-` or `-sSL`. The first
    /// letter that is not an option of dlm without a value decides.
    private static func attachedMeaning(of word: String, in names: [String]) -> String? {
        guard word.count > 2, word.hasPrefix("-"), !word.hasPrefix("--"), names.contains("output") else { return nil }
        let isNumber = word.dropFirst(2).first?.isNumber ?? false
        if word.hasPrefix("-k"), isNumber { return "dlm itself decides how to divide a file; leave it out" }
        if word.hasPrefix("-s"), !isNumber { return "here it is '--quiet'" }
        // Letters of dlm's own options may come before the letter of the other program's option. They are skipped.
        let letters = word.dropFirst().drop { ArgumentSecrets.flags.contains($0.asciiValue ?? 0) }
        guard let letter = letters.first else { return nil }
        if let name = same["-\(letter)"], names.contains(name) {
            return "here it is '--\(name)\(letters.count > 1 ? " \(letters.dropFirst())" : "")'"
        }
        return needless["-\(letter)"]
    }

    private static func exactMeaning(of option: String, in names: [String]) -> String? {
        if let name = same[option], names.contains(name) { return "here it is '--\(name)'" }
        if let (name, value) = valued[option], names.contains(name) { return "here it is '--\(name) \(value)'" }
        if names.contains("output"), let meaning = needless[option] { return meaning }
        return tableMeaning(of: option, in: names)
    }

    /// Returns the hint for a long option from the tables of other programs' options.
    private static func tableMeaning(of option: String, in names: [String]) -> String? {
        let options = option.hasPrefix("--") ? DropInProgram.allCases.flatMap(\.options) : []
        guard let found = options.first(where: { $0.names.contains(option) }) else { return nil }
        let isGet = names.contains("output")
        let words: [String]
        switch found.effect {
        case .option(let name, _): words = ["--\(name)"]
        case .words(let given): words = given
        case .either(let on, let off): words = on.isEmpty ? off : on
        case .part(let part): return isGet ? part.hint : nil
        case .needless(let why): return isGet ? "\(why); leave it out" : nil
        case .ignored(let why), .refused(let why): return isGet ? why : nil
        }
        return isGet || names.contains { words[0] == "--\($0)" } ? "here it is '\(words.joined(separator: " "))'" : nil
    }

    static var all: [String] { Array(same.keys) + Array(valued.keys) + Array(needless.keys) }

    /// The options that ``DropInOption`` has not, or describes at greater length.
    private static let same = [
        "-O": "output", "--out": "output", "--output-document": "output", "-P": "directory", "--dir": "directory",
        "--directory-prefix": "directory", "--output-dir": "directory", "-s": "connections", "--split": "connections",
        "--max-connection-per-server": "connections", "--max-threads": "max-concurrent", "-t": "retries",
        "-m": "max-time", "-T": "stall-timeout", "--knownhosts": "known-hosts", "--cookie": "cookie-file",
        "--all-proxy": "proxy", "-J": "content-disposition", "--http-user": "user",
    ]

    private static let valued = [
        "-nc": ("if-exists", "skip"), "-N": ("if-exists", "newer"), "--time-cond": ("if-exists", "newer"),
    ]

    /// The options of other programs that are not needed, because dlm always behaves like this.
    private static let needless = [
        "-L": "redirects are followed without it", "--location": "redirects are followed without it",
        "--remote-name": "dlm takes the file name from the server or the URL without it",
        "-f": "dlm fails at an error status without it",
        "--fail": "dlm fails at an error status without it", "-C": "an unfinished file is continued without it",
        "--continue-at": "an unfinished file is continued without it",
        "--parallel": "several URLs are fetched at once without it",
        "-S": "errors are shown without it", "--show-error": "errors are shown without it",
    ]
}
