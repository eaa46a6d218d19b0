import ArgumentParser

/// `dlm config`: the settings in force.
struct Config: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the settings in force, and where each comes from.",
        discussion: """
            A setting is taken from the environment, or else from config.yaml, or else it is the default; an option on \
            a command line counts before all of them. Each line has the key, the value, and its origin: a variable, a \
            line of the file, or "default". A key or a value that cannot be used is an error, with its place.
            """)

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(in context: Context) async throws -> Int32 {
        let entries = try Settings.entries(environment: context.environment)
        _ = try Settings(entries)
        let documents = SettingsKey.allCases.map { key in SettingDocument(key, entries.last { $0.key == key }) }
        if output.json {
            for document in documents { context.console.print(document.json) }
        } else if !output.quiet {
            for line in SettingText.lines(documents) { context.console.print(line) }
        }
        return 0
    }
}
