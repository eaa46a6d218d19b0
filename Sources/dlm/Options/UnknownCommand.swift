import Glibc

/// The message about an unknown command, with a guess at the command that was meant.
enum UnknownCommand {
    /// Returns nil if none of the commands is unknown. The commands are the first argument and, if this command has
    /// subcommands, the next argument. They end at the first option.
    /// - Parameter isPath: Whether all arguments are names of commands, as after `dlm help`.
    static func message(_ arguments: some Collection<String>, isPath: Bool = false) -> String? {
        // The parser's description of the commands can always be read. The manual is also made from this description.
        guard let root = try? CommandDescription.root() else { return nil }
        return message(Array(arguments)[...], of: root, isPath: isPath)
    }

    /// - Parameter path: the commands before these arguments, with a space after each.
    private static func message(
        _ arguments: ArraySlice<String>, of parent: CommandDescription, isPath: Bool, path: String = ""
    ) -> String? {
        guard let word = arguments.first, !word.hasPrefix("-") else { return nil }
        guard let commands = parent.subcommands else {
            return isPath ? "'\(word)' is not a command; dlm \(path.dropLast()) has no subcommands" : nil
        }
        if let command = commands.first(where: { $0.names.contains(word) }) {
            return message(
                arguments.dropFirst(), of: command, isPath: isPath, path: "\(path)\(command.commandName) ")
        }
        let names = commands.filter { $0.shouldDisplay && $0.commandName != "help" }.flatMap(\.names)
        let start = "unknown command '\(path)\(word)'"
        if let hint = path.isEmpty ? hint(for: word) : nil { return "\(start); \(hint)" }
        if let nearest = OptionCatalog.nearest(to: word, in: names) {
            return "\(start); did you mean '\(path)\(nearest)'?"
        }
        return "\(start); run: dlm \(path)--help"
    }

    private static func hint(for word: String) -> String? {
        if let similar = CommandAlias.similar[word] { return similar }
        if access(word, F_OK) == 0 { return "to download the URLs in that file run: dlm get -i \(word)" }
        if word.contains("://") || SchemelessAddress(word) != nil { return "to download it run: dlm get \(word)" }
        return !word.isEmpty && word.allSatisfy(\.isNumber) ? "to see that download run: dlm show \(word)" : nil
    }

    /// Returns the number of letters to add, remove, change or swap with a neighbour (optimal string alignment).
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first), Array(second))
        var rows = [Array(0...second.count)]
        for row in 1..<max(1, first.count + 1) {
            var costs = [row]
            for column in 1..<max(1, second.count + 1) {
                let isSame = first[row - 1] == second[column - 1]
                var cost = min(
                    rows[row - 1][column] + 1, costs[column - 1] + 1, rows[row - 1][column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, first[row - 1] == second[column - 2], first[row - 2] == second[column - 1] {
                    cost = min(cost, rows[row - 2][column - 2] + 1)
                }
                costs.append(cost)
            }
            rows.append(costs)
        }
        return rows[first.count][second.count]
    }
}
