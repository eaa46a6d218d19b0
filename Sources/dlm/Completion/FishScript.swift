import Foundation

/// The completions for fish, which the parser's generator writes wrongly for options with a dot in their name
/// (`--http1.1`): argparse(1) of fish refuses them, and nothing of such a command is completed.
enum FishScript {
    /// Such options are taken off the line before it is looked at; they are offered all the same.
    static func mended(_ script: String) -> String {
        var names: Set<String> = []
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.contains("__dlm_parse_subcommand ") else { return String(line) }
            return String(line).replacing(/\ '(?:.\/)?([a-z0-9-]+\.[a-z0-9.-]+)'/) { match in
                names.insert("--\(match.1)")
                return ""
            }
        }
        let tokens = "set -l unparsed_tokens (__dlm_tokens -pc)"
        let others = names.sorted().map { " | string match -v -- \($0)" }.joined()
        return lines.joined(separator: "\n").replacing(tokens, with: tokens.dropLast() + others + ")")
    }
}
