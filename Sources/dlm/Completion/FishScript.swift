import Foundation

/// The corrections of the completion script for fish that the argument parser generates. fish's argparse(1) refuses
/// options with a dot in their name (`--http1.1`), so a command with such an option would get no completions at all.
/// The generated script also repeats the whole help text of an option for each of its values. The corrected script has
/// a short text.
enum FishScript {
    /// Returns the corrected script. Options with a dot are removed from the declarations and from the words that
    /// argparse reads, but are still offered.
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

    private static let longest = 60

    private static func shortened(_ line: String) -> String {
        line.replacing(/\ -d '((?:[^'\\]|\\.)*)'/) { match in
            let text = String(match.1).replacing("\\'", with: "'")
            return " -d '\(clause(of: text).replacing("'", with: "\\'"))'"
        }
    }

    /// Returns the first clause of an option's help, cut after a whole word if the clause is too long.
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
