import ArgumentParser
import DownloadKit

struct Config: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the current settings, and where each comes from.",
        discussion: """
            The value of a setting comes from the first of these places that has the setting: the environment, the \
            rules in config.yaml, the section for the host in config.yaml, the rest of config.yaml, the default. An \
            option on a command line takes precedence over all of them. Each line shows the key, the value and the \
            origin of the value: a variable, a line of the file, or "default". Settings of hosts and rules come last, \
            with the name of the host or the number of the rule in front. With a URL, only the settings for this URL \
            are shown. A key or a value that cannot be used is reported as an error with its place.
            """)

    @Argument(help: ArgumentHelp("Show the settings for this URL.", valueName: "url"))
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
