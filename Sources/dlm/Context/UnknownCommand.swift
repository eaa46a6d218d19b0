/// A first word that is no command, and what was probably meant.
struct UnknownCommand {
    let message: String

    /// Nil when `word` is a command, or there is none.
    init?(_ word: String?) {
        // What the parser knows of itself can be read, or there would be no manual either.
        guard let word, let commands = try? CommandDescription.root().subcommands,
            !commands.contains(where: { $0.names.contains(word) })
        else { return nil }
        let names = commands.filter { $0.shouldDisplay && $0.commandName != "help" }.flatMap(\.names)
        let nearest = names.min { Self.distance(word, $0) < Self.distance(word, $1) }
        if let nearest, Self.distance(word, nearest) <= max(1, min(word.count, nearest.count) / 2) {
            message = "unknown command '\(word)'; did you mean '\(nearest)'?"
        } else {
            message = "unknown command '\(word)'; the commands are \(names.joined(separator: ", "))"
        }
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
