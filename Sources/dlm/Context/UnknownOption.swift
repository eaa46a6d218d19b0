/// An option that a command does not have, and what was probably meant.
struct UnknownOption {
    let message: String

    /// Returns nil when the error is about something else.
    /// - Parameters:
    ///   - text: of the parser, which names the option unless it took the value behind it for something wrong.
    ///   - arguments: of the command line, as the parser saw them.
    init?(_ text: String, _ arguments: [String]) {
        guard let option = Self.firstUnknown(arguments) ?? Self.named(text, arguments),
            // What the parser knows of itself can be read, or there would be no manual either.
            let root = try? CommandDescription.root()
        else { return nil }
        let command = root.path(arguments).last ?? root
        message = "unknown option '\(option)'; " + Self.hint(option, command, root, arguments)
    }

    /// The first one on the command line. Numbers may be operands: `dlm priority -5 3`.
    private static func firstUnknown(_ arguments: [String]) -> String? {
        guard let (path, catalog) = GivenArguments.command(of: arguments) else { return nil }
        let words = CommandWord.words(arguments.dropFirst(path), catalog)
        let word = words.first { $0.kind == .unknown && Int($0.arguments[0]) == nil }?.arguments[0]
        return word.map { $0.hasPrefix("--") ? String($0.prefix { $0 != "=" }) : $0 }
    }

    /// The one that the parser names. `-output` is read as the letters `-o -u -t`; what stands there is what was meant.
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
        // What dlm has, but before its command.
        if arguments.first == option, let behind = arguments.lazy.compactMap({ root.command($0) }).first {
            return "the options of a command stand behind it; run: dlm \(behind.commandName) --help"
        }
        if names.contains("state"), let other = changes[word] { return other }
        let others = root.visibleCommands.filter { $0.longNames.contains(word) }.map { "dlm \($0.commandName)" }
        if !others.isEmpty, others.count <= 3 { return "it is an option of \(others.joined(separator: ", "))" }
        if isLong, let name = OptionCatalog.nearest(to: word, in: names) { return "did you mean '--\(name)'?" }
        let path = ["dlm"] + root.path(arguments).map(\.commandName)
        return "run: \(path.joined(separator: " ")) --help"
    }

    /// What other commands change of a download that is there already, by the option of `get`.
    private static let changes = [
        "limit-rate": "to change the speed limit of a download run: dlm limit RATE ID",
        "priority": "to change the priority of a download run: dlm priority N ID",
    ]

    /// The beginning of a name counts more than letters that differ.
    private static func nearest(beginning word: String, in names: [String]) -> String? {
        let begun = word.count >= 3 ? names.filter { $0.hasPrefix(word) } : []
        return begun.min { $0.count < $1.count }
    }
}

extension CommandDescription {
    /// Without the dashes.
    fileprivate var longNames: [String] {
        visibleArguments.flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map(\.name)
    }

    /// Of the visible ones.
    fileprivate func command(_ word: String) -> CommandDescription? {
        visibleCommands.first { $0.names.contains(word) }
    }

    /// The command that a command line begins with, and its command: `daemon`, `start`.
    func path(_ arguments: [String]) -> [CommandDescription] {
        guard let first = arguments.first, let command = command(first) else { return [] }
        return [command] + command.path(Array(arguments.dropFirst()))
    }
}
