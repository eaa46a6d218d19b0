/// A first word that is no command, and what was probably meant.
struct UnknownCommand {
    let message: String

    /// Nil when `word` is a command, or there is none.
    init?(_ word: String?) { self.init(path: word.map { [$0] } ?? []) }

    /// Nil when the words lead to a command: `daemon start`. Options are none of its words.
    init?(path: some Sequence<String>) {
        // What the parser knows of itself can be read, or there would be no manual either.
        guard var command = try? CommandDescription.root() else { return nil }
        for word in path where !word.hasPrefix("-") {
            let commands = command.subcommands ?? []
            guard let known = commands.first(where: { $0.names.contains(word) }) else {
                message = Self.message(word, commands)
                return
            }
            command = known
        }
        return nil
    }

    private static func message(_ word: String, _ commands: [CommandDescription]) -> String {
        let names = commands.filter { $0.shouldDisplay && $0.commandName != "help" }.flatMap(\.names)
        if names.isEmpty { return "'\(word)' is no command, and there are none behind it" }
        if let nearest = OptionCatalog.nearest(to: word, in: names) {
            return "unknown command '\(word)'; did you mean '\(nearest)'?"
        }
        return "unknown command '\(word)'; the commands are \(names.joined(separator: ", "))"
    }

    /// Letters to add, drop, change or swap with their neighbour (optimal string alignment).
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
