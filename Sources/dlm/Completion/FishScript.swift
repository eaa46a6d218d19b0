import Foundation

/// The completions for fish. The parser's generator writes options with a dot in their name (`--http1.1`) wrongly:
/// argparse(1) of fish refuses them, and nothing of such a command is completed. It also repeats the whole help of an
/// option beside each of its values: here that is one short line.
enum FishScript {
    /// Such options are taken off the line before it is looked at; they are offered all the same.
    static func mended(_ script: String) -> String {
        var names: Set<String> = []
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.contains("__dlm_parse_subcommand ") else { return shortened(String(line)) }
            return String(line).replacing(/\ '(?:.\/)?([a-z0-9-]+\.[a-z0-9.-]+)'/) { match in
                names.insert("--\(match.1)")
                return ""
            }
        }
        let tokens = "set -l unparsed_tokens (__dlm_tokens -pc)"
        let others = names.sorted().map { " | string match -v -- \($0)" }.joined()
        return lines.joined(separator: "\n").replacing(tokens, with: tokens.dropLast() + others + ")")
    }

    /// Characters of a description.
    private static let longest = 60

    /// Of a line that offers something, with a description.
    private static func shortened(_ line: String) -> String {
        line.replacing(/\ -d '((?:[^'\\]|\\.)*)'/) { match in
            let text = String(match.1).replacing("\\'", with: "'")
            return " -d '\(clause(of: text).replacing("'", with: "\\'"))'"
        }
    }

    /// The first clause of an option's help, and of that as many words as there is room for.
    static func clause(of text: String) -> String {
        let ends = [". ", "; ", ": ", " ("].compactMap { text.firstRange(of: $0)?.lowerBound }
        var clause = String(text[..<(ends.min() ?? text.endIndex)])
        if clause.count > longest, let comma = clause.prefix(longest).lastIndex(of: ",") {
            clause = String(clause[..<comma])
        }
        if clause.count > longest, let space = clause.prefix(longest - 2).lastIndex(of: " ") {
            clause = clause[..<space] + "..."
        }
        return clause.hasSuffix(".") && !clause.hasSuffix("...") ? String(clause.dropLast()) : clause
    }
}
