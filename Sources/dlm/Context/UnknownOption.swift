/// An option that a command does not have, and what was probably meant.
struct UnknownOption {
    let message: String

    /// - Parameters:
    ///   - text: of the parser, with the option in it.
    ///   - arguments: of the command line.
    /// Nil when the error is about something else.
    init?(_ text: String, _ arguments: [String]) {
        // What the parser knows of itself can be read, or there would be no manual either.
        guard let match = text.firstMatch(of: /^[Uu]nknown option '(-[^'=]*)/),
            let root = try? CommandDescription.root()
        else { return nil }
        let command = root.path(arguments).last ?? root
        let written = Self.written(String(match.1), arguments)
        message = "unknown option '\(written)'; " + Self.hint(written, command, root, arguments)
    }

    /// `-output` is read as the letters `-o -u -t`; what stands there is what was meant.
    private static func written(_ option: String, _ arguments: [String]) -> String {
        guard option.count == 2, let letter = option.last else { return option }
        let word = arguments.first { word in
            guard word.hasPrefix("-"), !word.hasPrefix("--"), word.contains(letter) else { return false }
            let isName = word.count > 4 && word.dropFirst().allSatisfy { $0.isLetter || $0 == "-" }
            return isName || ForeignOption.all.contains(word)
        }
        return word ?? option
    }

    private static func hint(
        _ option: String, _ command: CommandDescription, _ root: CommandDescription, _ arguments: [String]
    ) -> String {
        let names = command.longNames
        let word = String(option.drop { $0 == "-" })
        if let meant = ForeignOption.meaning(of: option, in: names) { return meant }
        if option.count > 2, let name = nearest(to: word, in: names) { return "did you mean '--\(name)'?" }
        // What dlm has, but before its command.
        if arguments.first == option, let behind = arguments.lazy.compactMap({ root.command($0) }).first {
            return "the options of a command stand behind it; run: dlm \(behind.commandName) --help"
        }
        let others = root.visibleCommands.filter { $0.longNames.contains(word) }.map { "dlm \($0.commandName)" }
        if !others.isEmpty, others.count <= 3 { return "it is an option of \(others.joined(separator: ", "))" }
        let path = ["dlm"] + root.path(arguments).map(\.commandName)
        return "run: \(path.joined(separator: " ")) --help"
    }

    /// The beginning of a name counts more than letters that differ.
    private static func nearest(to word: String, in names: [String]) -> String? {
        let begun = word.count >= 3 ? names.filter { $0.hasPrefix(word) } : []
        return begun.min { $0.count < $1.count } ?? OptionCatalog.nearest(to: word, in: names)
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
    fileprivate func path(_ arguments: [String]) -> [CommandDescription] {
        guard let first = arguments.first, let command = command(first) else { return [] }
        return [command] + command.path(Array(arguments.dropFirst()))
    }
}
