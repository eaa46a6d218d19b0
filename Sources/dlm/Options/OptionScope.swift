/// The places besides the command line where an option can be given, if the table for the place has it.
struct OptionPlaces: OptionSet {
    let rawValue: UInt8

    /// A list of URLs.
    static let list = Self(rawValue: 1)
    /// The settings: config.yaml, and variables that begin with `DLM_`.
    static let settings = Self(rawValue: 2)
    static let hosts = Self(rawValue: 4)
    static let rules = Self(rawValue: 8)

    static let all: Self = [.list, .settings, .hosts, .rules]
    /// For options about one file, or about the output of a command.
    static let commandLine: Self = []
    /// For options that cannot be settings, because their value would be wrong for the next file.
    static let file: Self = [.list]
    /// For settings that cannot be set for one host.
    static let session: Self = [.settings]
    /// For options that cannot be in a list, because the list may come from another person. Most of these options run
    /// programs, or send data or the contents of files to a server.
    static let trusted: Self = [.settings, .hosts, .rules]
}

/// The names of the options that can be given in a place.
enum OptionScope {
    static let item = OptionCatalog.item.names(in: .list)
    static let settings = OptionCatalog.settings.names(in: .settings)
    static let host = OptionCatalog.settings.names(in: .hosts)
    static let rule = OptionCatalog.settings.names(in: .rules)
    /// The settings that cannot be set for one host.
    static let session = settings.filter { !host.contains($0) }
}
