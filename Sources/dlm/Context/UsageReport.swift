import ArgumentParser
import Foundation

/// What the argument parser has to say: help on stdout, or one line on stderr with status 2.
struct UsageReport {
    private let message: String
    private let isHelp: Bool

    init(_ error: any Error) {
        isHelp = DLM.exitCode(for: error) == .success
        message = isHelp ? DLM.fullMessage(for: error) : Self.oneLine(DLM.message(for: error))
    }

    func print(on console: Console) -> Int32 {
        if isHelp {
            console.print(message)
            return 0
        }
        console.report(message.contains("; ") ? message : "\(message); run: dlm --help")
        return 2
    }

    /// The parser's sentences in the manner of our own: no capital, no full stop, no line break.
    private static func oneLine(_ text: String) -> String {
        var words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        while words.hasSuffix(".") { words.removeLast() }
        guard let first = words.first else { return "wrong usage" }
        return first.lowercased() + words.dropFirst()
    }
}
