import ArgumentParser
import Foundation

/// The argument parser's description of a command, read from its `--experimental-dump-help`.
struct CommandDescription: Decodable, Sendable {
    struct Argument: Decodable, Sendable {
        struct Name: Decodable, Sendable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let allValues: [String]?
        let abstract: String?
        let sectionTitle: String?
        let completionKind: [String: Ignored]?

        var longName: String? { names?.first { $0.kind == "long" }?.name }

        /// Whether shells complete the argument with the names of files or folders.
        var isPath: Bool { completionKind.map { $0["file"] != nil || $0["directory"] != nil } ?? false }

        /// The help of an option, with its possible values and its default.
        var description: String {
            var text = abstract ?? ""
            if let values = allValues, !values.isEmpty { text += " One of: \(values.joined(separator: ", "))." }
            if let value = defaultValue, kind != "flag", !text.contains("Default: ") { text += " Default: \(value)." }
            return text
        }
    }

    /// A value of any form, whose content is ignored.
    struct Ignored: Decodable, Sendable {
        init(from decoder: any Decoder) {}
    }

    private struct Root: Decodable {
        let command: CommandDescription
    }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let aliases: [String]?
    let shouldDisplay: Bool
    let subcommands: [CommandDescription]?
    let arguments: [Argument]?

    static func root() throws -> CommandDescription { try known.get() }

    /// The description of `dlm`. It is made only once, because the parser needs much time for it.
    private static let known = Result { try CommandDescription(dump: DLM._dumpHelp()) }

    static func arguments(of type: (some ParsableArguments).Type) -> [Argument] {
        (try? CommandDescription(dump: type._dumpHelp()).visibleArguments) ?? []
    }

    init(dump: String) throws { self = try JSONDecoder().decode(Root.self, from: Data(dump.utf8)).command }

    var names: [String] { [commandName] + (aliases ?? []) }

    /// The commands without hidden ones and `help`.
    var visibleCommands: [CommandDescription] {
        (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    }

    var visibleArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
}

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
