import ArgumentParser

@testable import dlm

/// A page of the manual in the man(7) language. The page has no date, because a date would change the file each day.
struct ManualPage {
    let fileName: String
    let text: String

    /// Returns `dlm.1`, and one page for each command.
    static func all() throws -> [ManualPage] {
        let root = try CommandDescription.root()
        return [page(root)] + root.visibleCommands.map(page(command:))
    }

    private static func page(_ root: CommandDescription) -> ManualPage {
        var roff = Roff(title: "dlm", version: DLM.configuration.version)
        roff.section("NAME", "dlm \\- " + Roff.escaped(sentence(root.abstract)))
        roff.section("SYNOPSIS", ".B dlm\n.I command\n[\n.I options\n]\n[\n.I arguments\n]")
        roff.section("DESCRIPTION", Roff.escaped(root.discussion ?? ""))
        roff.begin("COMMANDS")
        for command in root.visibleCommands {
            roff.entry(
                command.names.map { "\\fBdlm " + Roff.escaped($0) + "\\fR" }.joined(separator: ", "),
                Roff.escaped("\(command.abstract ?? "") See dlm-\(command.commandName)(1)."))
        }
        roff.begin("OPTIONS")
        entries(root.visibleArguments, &roff)
        roff.append(ManualText.otherNames)
        roff.examples(ManualText.examples(for: nil))
        ending(&roff)
        let others = root.visibleCommands.map { ".BR dlm\\-\($0.commandName) (1)" }
        roff.section("SEE ALSO", others.joined(separator: " ,\n"))
        return ManualPage(fileName: "dlm.1", text: roff.text)
    }

    private static func page(command: CommandDescription) -> ManualPage {
        let name = command.commandName
        var roff = Roff(title: "dlm-\(name)", version: DLM.configuration.version)
        roff.section("NAME", "dlm\\-\(name) \\- " + Roff.escaped(sentence(command.abstract)))
        let operands = command.visibleArguments.filter { $0.kind == "positional" }
            .map { operand in
                let name = "\\fI\(Roff.escaped(operand.valueName ?? ""))\\fR" + (operand.isRepeating ? "..." : "")
                return operand.isOptional && !operand.isRepeating ? "[\(name)]" : name
            }
        let parts = command.visibleCommands.map { Roff.escaped($0.commandName) }.joined(separator: " | ")
        let verb = parts.isEmpty ? "" : " \\fB\(parts)\\fR"
        roff.section("SYNOPSIS", "\\fBdlm \(name)\\fR\(verb) [\\fIoptions\\fR] " + operands.joined(separator: " "))
        let description = [command.abstract, command.discussion].compactMap(\.self).joined(separator: " ")
        let alias = command.aliases?.first.map { " Also: dlm \($0)." } ?? ""
        roff.section("DESCRIPTION", Roff.escaped(description + alias))
        options(command, &roff)
        if name == "get" { hooks(&roff) }
        for section in ManualText.sections(for: name) { roff.append(section) }
        roff.examples(ManualText.examples(for: name))
        ending(&roff)
        roff.section("SEE ALSO", ".BR dlm (1)")
        return ManualPage(fileName: "dlm-\(name).1", text: roff.text)
    }

    private static func hooks(_ roff: inout Roff) {
        roff.section("HOOKS", Roff.escaped(ManualText.hooks))
        for (name, meaning) in ManualText.hookVariables {
            roff.entry("\\fB\(Roff.escaped(name))\\fR", Roff.escaped(meaning))
        }
    }

    private static func options(_ command: CommandDescription, _ roff: inout Roff) {
        roff.begin("OPTIONS")
        for (title, arguments) in OptionOrder.groups(command.visibleArguments) {
            if let title { roff.part(Roff.escaped(title)) }
            entries(arguments, &roff)
        }
        for part in command.visibleCommands {
            roff.part(
                Roff.escaped("dlm \(command.commandName) \(part.commandName)"),
                body: Roff.escaped([part.abstract, part.discussion].compactMap(\.self).joined(separator: " ")))
            entries(part.visibleArguments.filter { !command.hasOption($0) }, &roff)
        }
    }

    private static func entries(_ arguments: [CommandDescription.Argument], _ roff: inout Roff) {
        for argument in arguments { roff.entry(heading(argument), Roff.escaped(argument.description)) }
    }

    private static func heading(_ argument: CommandDescription.Argument) -> String {
        let value = argument.valueName.map { "\\fI\(Roff.escaped($0))\\fR" } ?? ""
        if argument.kind == "positional" { return value + (argument.isRepeating ? "..." : "") }
        let short = (argument.names ?? []).filter { $0.kind == "short" }
        let long = (argument.names ?? []).filter { $0.kind != "short" }
        let names = (short + long).map { "\\fB\(Roff.escaped($0.text))\\fR" }.joined(separator: ", ")
        return argument.kind == "flag" ? names : "\(names) \(value)"
    }

    private static func ending(_ roff: inout Roff) {
        roff.begin("EXIT STATUS")
        for (status, meaning) in ManualText.statuses { roff.entry("\\fB\(status)\\fR", Roff.escaped(meaning)) }
        roff.begin("FILES")
        for (path, meaning) in ManualText.files { roff.entry("\\fI\(Roff.escaped(path))\\fR", Roff.escaped(meaning)) }
        roff.begin("ENVIRONMENT")
        for (name, meaning) in ManualText.environment {
            roff.entry("\\fB\(Roff.escaped(name))\\fR", Roff.escaped(meaning))
        }
    }

    /// Returns the first sentence of a text in the form of a NAME line: without a capital or a full stop.
    private static func sentence(_ text: String?) -> String {
        let text = text ?? ""
        return text.prefix(1).lowercased() + text.dropFirst().prefix { $0 != "." }
    }
}

extension CommandDescription {
    /// Returns whether this command itself has an option of its subcommand, such as `--help`.
    fileprivate func hasOption(_ argument: Argument) -> Bool {
        visibleArguments.contains { $0.kind != "positional" && $0.names?.map(\.text) == argument.names?.map(\.text) }
    }
}
