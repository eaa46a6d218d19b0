import ArgumentParser
import Foundation

/// The output options that most commands share.
struct OutputOptions: ScannedGroup {
    @Flag(name: .long, help: "Write JSON to stdout, one value in each line.")
    var json = false

    @Flag(
        name: .shortAndLong,
        help: """
            Print no notices, progress or paths. Errors, JSON, and the results of list and show are still printed.
            """)
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more details on stderr; repeatable. Secrets are never shown.")
    var verbose: Int

    @Option("Colour the output; auto means on a terminal. Default: auto.", value: "when")
    var color: ColorChoice?

    mutating func read(_ words: inout ScannedWords) {
        json = words("json", .flag)
        quiet = words("quiet", letter: "q", .flag)
        verbose = words("verbose", letter: "v", .count)
        color = words("color", .word())
    }
}

/// The option for the progress display of the commands that show running downloads.
struct ProgressOptions: ScannedGroup {
    @Option(
        "Show progress on stderr: bars (bar), a line every few seconds (plain), JSON (json) or nothing (none). "
            + "Default: auto, which is bar on a terminal. Elsewhere it is none, but plain for dlm watch.", value: "how")
    var progress: ProgressChoice?

    mutating func read(_ words: inout ScannedWords) {
        progress = words("progress", .word())
    }
}
