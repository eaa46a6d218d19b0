import ArgumentParser
import DownloadKit

/// `dlm config`: the settings in force.
struct Config: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the settings in force, and where each comes from.",
        discussion: """
            A setting is taken from the environment, or else from the rules and then the section for the host in \
            config.yaml, or else from the rest of config.yaml, or else it is the default; an option on a command line \
            counts before all of them. Each line has the key, the value, and its origin: a variable, a line of the file, \
            or "default". The settings of sections for hosts and of rules come last, behind the names of their hosts or \
            the number of the rule. With a URL, only what counts for it is shown. A key or a value that cannot be used is \
            an error, with its place.
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
