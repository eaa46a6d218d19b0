/// The message about an option that a command does not have, with a guess at what was meant.
enum UnknownOption {
    /// Returns nil if the error is not about an unknown option. The parser's message names the option, unless the
    /// parser complains about the value after the option.
    static func message(_ text: String, _ arguments: [String]) -> String? {
        guard let option = Self.firstUnknown(arguments) ?? Self.named(text, arguments),
            // The parser's description of the commands can always be read. The manual is also made from it.
            let root = try? CommandDescription.root()
        else { return nil }
        let command = root.path(arguments).last ?? root
        return "unknown option '\(option)'; " + Self.hint(option, command, root, arguments)
    }

    /// Returns the first unknown option. Numbers are skipped, as they may be operands: `dlm priority -5 3`.
    private static func firstUnknown(_ arguments: [String]) -> String? {
        guard let (path, catalog) = GivenArguments.command(of: arguments) else { return nil }
        let words = CommandWord.words(arguments.dropFirst(path), catalog)
        let word = words.first { $0.kind == .unknown && Int($0.arguments[0]) == nil }?.arguments[0]
        return word.map { $0.hasPrefix("--") ? String($0.prefix { $0 != "=" }) : $0 }
    }

    /// Returns the option that the parser's message names. The parser reads a word such as `-output` as single letters,
    /// and names one letter. In this case the whole word is returned, because the user meant the word.
    private static func named(_ text: String, _ arguments: [String]) -> String? {
        guard let match = text.firstMatch(of: /^[Uu]nknown option '(-[^'=]*)/) else { return nil }
        let option = String(match.1)
        guard option.count == 2, let letter = option.last else { return option }
        return arguments.first { word in
            word.count > 4 && word.hasPrefix("-") && !word.hasPrefix("--") && word.contains(letter)
                && word.dropFirst().allSatisfy { $0.isLetter || $0 == "-" }
        } ?? option
    }

    private static func hint(
        _ option: String, _ command: CommandDescription, _ root: CommandDescription, _ arguments: [String]
    ) -> String {
        let names = command.longNames
        let word = String(option.drop { $0 == "-" })
        if let meant = ForeignOption.meaning(of: option, in: names) { return meant }
        let isLong = option.count > 2
        if isLong, let name = nearest(beginning: word, in: names) { return "did you mean '--\(name)'?" }
        // An option that is written before its command.
        if arguments.first == option, let behind = arguments.lazy.compactMap({ root.command($0) }).first {
            return "write the options of a command after its name; run: dlm \(behind.commandName) --help"
        }
        if names.contains("state"), let other = changes[word] { return other }
        let others = root.visibleCommands.filter { $0.longNames.contains(word) }.map { "dlm \($0.commandName)" }
        if !others.isEmpty, others.count <= 3 { return "it is an option of \(others.joined(separator: ", "))" }
        if isLong, let name = OptionCatalog.nearest(to: word, in: names) { return "did you mean '--\(name)'?" }
        let path = ["dlm"] + root.path(arguments).map(\.commandName)
        return "run: \(path.joined(separator: " ")) --help"
    }

    /// The hints to commands that change an existing download, by the option of `get` for the same value.
    private static let changes = [
        "limit-rate": "to change the speed limit of a download run: dlm limit RATE ID",
        "priority": "to change the priority of a download run: dlm priority N ID",
    ]

    /// Returns the shortest name that begins with the word: a better guess than a name with other letters.
    private static func nearest(beginning word: String, in names: [String]) -> String? {
        let begun = word.count >= 3 ? names.filter { $0.hasPrefix(word) } : []
        return begun.min { $0.count < $1.count }
    }
}

extension CommandDescription {
    fileprivate var longNames: [String] {
        visibleArguments.flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map(\.name)
    }

    fileprivate func command(_ word: String) -> CommandDescription? {
        visibleCommands.first { $0.names.contains(word) }
    }

    /// Returns the command that the arguments begin with, and the subcommand after it: `daemon`, `start`.
    func path(_ arguments: [String]) -> [CommandDescription] {
        guard let first = arguments.first, let command = command(first) else { return [] }
        return [command] + command.path(Array(arguments.dropFirst()))
    }
}
