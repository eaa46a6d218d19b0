import ArgumentParser
import Foundation

/// A message of the argument parser: help on stdout with status 0, or a line on stderr with status 2 for wrong usage,
/// otherwise 1.
struct UsageReport {
    let message: String
    let status: Int32

    init(_ error: any Error, arguments: [String] = Array(CommandLine.arguments.dropFirst())) {
        let arguments = (try? GivenArguments.normalized(arguments)) ?? CommandAlias.resolved(arguments)
        let code = DLM.exitCode(for: error)
        if code == .success, arguments.first == "help",
            let unknown = UnknownCommand.message(arguments.dropFirst(), isPath: true)
        {
            // For `help` with an unknown command, the parser shows the help of dlm. dlm reports the unknown command
            // instead.
            status = 2
            message = unknown
        } else if code == .success {
            status = 0
            let text = DLM.fullMessage(for: error)
            if arguments == ["--generate-completion-script", "fish"] {
                message = FishScript.mended(text)
            } else {
                message = text.hasPrefix("OVERVIEW: ") ? HelpText.text(arguments) ?? text : text
            }
        } else if code == .validationFailure {
            status = 2
            let text = DLM.message(for: error)
            let command = arguments.first.flatMap { $0.hasPrefix("-") ? nil : $0 }
            message =
                UnknownCommand.message(arguments) ?? UnknownOption.message(text, arguments)
                ?? Self.explained(text, command)
        } else {
            status = 1
            message = Self.oneLine(DLM.message(for: error))
        }
    }

    func print(on console: Console) -> Int32 {
        if status == 0 {
            console.print(message)
        } else {
            console.report(message)
        }
        return status
    }

    /// Returns the parser's text. If the text has no advice, the advice to read the help is added.
    private static func explained(_ text: String, _ command: String?) -> String {
        let line = oneLine(text)
        if line.contains("; ") { return line }
        return line + "; run: dlm \(command.map { "\($0) " } ?? "")--help"
    }

    /// Returns the message for an error in options that do not come from the command line, such as options in a list.
    static func sentence(_ error: any Error, of type: (some ParsableArguments).Type) -> String {
        oneLine(type.message(for: error))
    }

    /// Returns the parser's sentences in the form of dlm's own messages: without a capital, full stop or line break.
    private static func oneLine(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        let items = lines.filter { $0.hasPrefix("- ") }.map { $0.dropFirst(2) }
        var words = lines.filter { !$0.hasPrefix("- ") }.joined(separator: " ")
        if !items.isEmpty { words += " " + items.joined(separator: ", ") }
        words = words.replacing(". Did you mean", with: "; did you mean")
            .replacing(". Please provide one of the following:", with: "; give one of")
            .replacing(". Please provide one of", with: "; give one of")
        while words.hasSuffix(".") { words.removeLast() }
        guard let first = words.first else { return "wrong usage" }
        return first.lowercased() + words.dropFirst()
    }
}
