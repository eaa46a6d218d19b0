import ArgumentParser
import DownloadKit

/// `dlm config`: shows the current settings.
struct Config: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the settings in force, and where each comes from.",
        discussion: """
            A setting comes from the first of these that has it: the environment, the rules in config.yaml, its \
            section for the host, the rest of config.yaml, the default. An option on a command line takes precedence \
            over all of them. Each line shows the key, the value and its origin: a variable, a line of the file, or \
            "default". Settings of hosts and rules come last, each after the host's name or the rule's number. With \
            a URL, only what applies to that URL is shown. A key or a value that cannot be used is an error that \
            names its place.
            """)

    @Argument(help: ArgumentHelp("Show what is in force for this URL.", valueName: "url"))
    var url: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(in context: Context) async throws -> Int32 {
        let settings = try context.settings()
        let address = try url.map { try RequestMaker.address($0).get().0 }
        let documents = Self.documents(settings, for: address)
        if output.json {
            for document in documents { context.console.print(document.json) }
        } else if !output.quiet {
            for line in SettingText.lines(documents, namesSections: address == nil) { context.console.print(line) }
        }
        return 0
    }

    private static func documents(_ settings: Settings, for url: SourceURL?) -> [SettingDocument] {
        let counting = settings.entries(for: url.map(settings.sections) ?? [])
        let documents = OptionScope.settings.flatMap { key in
            let entries = counting.filter { $0.key == key }
            return entries.isEmpty ? [SettingDocument(key, nil)] : entries.map { SettingDocument(key, $0) }
        }
        if url != nil { return documents }
        return documents + settings.entries.filter { $0.section != nil }.map { SettingDocument($0.key, $0) }
    }
}
