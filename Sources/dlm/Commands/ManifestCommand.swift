import ArgumentParser
import DownloadKit

struct ManifestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manifest",
        abstract: "Summarize or merge manifests of dlm get, or list failed URLs.",
        discussion: """
            A manifest (dlm get --manifest) has a line of JSON for each URL that ended. If a file has several lines \
            for a URL, the last line is used. If these lines of several files differ, one that says that the URL is done is \
            used, otherwise the line of the last file. summary counts URLs, merge prints one line for each URL, and \
            failed prints the failed URLs by host and kind of error, as a list for dlm get -i.
            """,
        subcommands: [Summary.self, Merge.self, Failed.self])

    /// Reads manifests.
    /// - Throws: An error if a file has lines that are not entries, because these lines may be damaged entries.
    static func index(_ files: [String]) throws -> ManifestIndex {
        var index = ManifestIndex()
        for path in files {
            let before = index.strangers
            try index.add(try ManifestFile(path))
            if index.strangers > before {
                throw DownloadError.noManifest(path, "\(index.strangers - before) lines have no URL")
            }
        }
        return index
    }
}

struct ManifestFiles: ParsableArguments {
    @Argument(help: ArgumentHelp("Manifest files of dlm get.", valueName: "file"), completion: .file())
    var files: [String]
}

extension ManifestCommand {
    struct Summary: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "summary", abstract: "Count done and failed URLs, by kind of error and by host.")

        @OptionGroup var manifests: ManifestFiles
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(in context: Context) async throws -> Int32 {
            let summary = try ManifestSummary(ManifestCommand.index(manifests.files))
            context.console.print(summary, output) { summary.lines.map(Escaping.line) }
            return 0
        }
    }

    struct Merge: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "merge", abstract: "Print one line of JSON for each URL.")

        @OptionGroup var manifests: ManifestFiles

        func run(in context: Context) async throws -> Int32 {
            let index = try ManifestCommand.index(manifests.files)
            var text = ""
            try index.forEachLine { line in
                text += String(decoding: line, as: UTF8.self)
                if text.utf8.count > 1 << 16 {
                    context.console.print(text)
                    text = ""
                } else {
                    text += "\n"
                }
            }
            if text.last == "\n" { text.removeLast() }
            if !text.isEmpty { context.console.print(text) }
            return 0
        }
    }

    struct Failed: ContextCommand {
        static let configuration = CommandConfiguration(
            commandName: "failed", abstract: "Print the failed URLs, by host and kind of error.")

        @OptionGroup var manifests: ManifestFiles

        @Option("Print only URLs of this host.", value: "name") var host: String?

        @Option(
            "Print only URLs with this kind of error, such as network, or kind and reason, such as server/status404.",
            value: "kind")
        var kind: String?

        @Flag(help: "Print only URLs that may succeed in another run.") var retryable = false

        @OptionGroup(title: "Output") var output: OutputOptions

        func run(in context: Context) async throws -> Int32 {
            let failures = try ManifestFailures(ManifestCommand.index(manifests.files)) { entry, host in
                guard let error = entry.error else { return false }
                let isKind = kind.map { $0 == error.kind || $0 == "\(error.kind)/\(error.reason)" } ?? true
                return isKind && (self.host.map { $0.lowercased() == host } ?? true)
                    && (!retryable || error.retryable)
            }
            for group in failures.groups {
                if output.json {
                    for entry in group.entries { context.console.print(entry.json) }
                } else {
                    if !output.quiet { context.console.print(Escaping.line("# \(group.host): \(group.kind)")) }
                    context.console.print(group.entries.map { Escaping.line($0.url) }.joined(separator: "\n"))
                }
            }
            return 0
        }
    }
}
