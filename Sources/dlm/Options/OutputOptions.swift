import ArgumentParser
import Foundation

/// The output options that most commands share.
struct OutputOptions: OptionTable {
    var json = false
    var quiet = false
    var verbose = 0
    var color: ColorChoice?

    mutating func rows(_ row: inout OptionRows) {
        row(&json, "json", in: .commandLine, .flag, "Write JSON to stdout, one value in each line.")
        row(
            &quiet, "quiet", letter: "q", in: .commandLine, .flag,
            "Print no notices, progress or paths. Errors, JSON, and the results of list and show are still printed.")
        row(
            &verbose, "verbose", letter: "v", in: .commandLine, .count,
            "Print more details on stderr; repeatable. Secrets are never shown.")
        row(
            &color, "color", in: .session, usual: "auto", .word("when"),
            "Colour the output; auto means on a terminal. Default: auto.")
    }
}

/// The option for the progress display of the commands that show running downloads.
struct ProgressOptions: OptionTable {
    var progress: ProgressChoice?

    mutating func rows(_ row: inout OptionRows) {
        row(
            &progress, "progress", in: .session, usual: "auto", .word("how"),
            "Show progress on stderr: bars (bar), a line every few seconds (plain), JSON (json) or nothing (none). "
                + "Default: auto, which is bar on a terminal. Elsewhere it is none, but plain for dlm watch.")
    }
}
