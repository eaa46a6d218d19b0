import ArgumentParser
import Foundation

/// The options that every command has.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Write JSON to stdout, one value a line.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print nothing but errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Tell more on stderr; secrets are never shown.")
    var verbose: Int

    @Option(
        help: ArgumentHelp("Colour the output on terminals (auto, the default), always or never.", valueName: "when"))
    var color: ColorChoice?
}

extension OutputOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        json = words.flag("json")
        quiet = words.flag("quiet", "q")
        verbose = words.count("verbose", "v")
        color = words.value("color")
    }
}

/// The additional options of the commands that download.
struct ProgressOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Show progress on stderr: bars on a terminal and nothing elsewhere (auto, the default), bars (bar), a line "
                + "every few seconds (plain), JSON values (json), or nothing (none).", valueName: "how"))
    var progress: ProgressChoice?
}

extension ProgressOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        progress = words.value("progress")
    }
}
