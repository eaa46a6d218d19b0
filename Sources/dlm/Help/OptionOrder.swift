/// The order of options in the manual and in `--help-all`.
enum OptionOrder {
    static let first = ["output", "directory", "input-file", "background", "connections", "max-concurrent", "continue"]

    /// Returns the arguments by group. Operands, the options of ``first`` and options without a group come first. After
    /// a group, they would seem to belong to it. The groups follow in the order of their first options.
    static func groups(
        _ arguments: [CommandDescription.Argument]
    ) -> [(title: String?, arguments: [CommandDescription.Argument])] {
        let isFirst = { (argument: CommandDescription.Argument) in first.contains { argument.isNamed($0) } }
        let leading = first.flatMap { name in arguments.filter { $0.isNamed(name) } }
        let others = arguments.filter { !isFirst($0) }
        let ungrouped = others.filter { $0.sectionTitle == nil }
        var titles: [String] = []
        for case let title? in others.map(\.sectionTitle) where !titles.contains(title) { titles.append(title) }
        let operands = ungrouped.filter { $0.kind == "positional" }
        let beginning = operands + leading + ungrouped.filter { $0.kind != "positional" }
        return [(nil, beginning)] + titles.map { title in (title, others.filter { $0.sectionTitle == title }) }
    }
}

extension CommandDescription.Argument {
    /// - Parameter name: a long name without its dashes.
    func isNamed(_ name: String) -> Bool { names?.contains { $0.kind == "long" && $0.name == name } ?? false }
}
