/// The options that are excluded from settings, rules or lists of URLs, although the struct for this place has them. An
/// option that is not named here can be given everywhere. So an option that is added to ``ItemOptions`` becomes a
/// setting.
enum OptionScope {
    /// Options for the command line only: they are about one file, or about the output of a command.
    static let command: Set<String> = ["checksum-file", "json", "quiet", "verbose"]
    /// Options that cannot be settings, because their value would be wrong for the next file.
    static let file: Set<String> = [
        "output", "checksum", "query", "method", "data", "data-urlencode", "mirror", "at", "repair",
    ]
    /// Settings that cannot be set for one host.
    static let session: Set<String> = [
        "history-age", "limit-window", "max-concurrent", "progress", "color", "rpc", "rpc-listen", "rpc-folders",
        "rpc-hosts", "rpc-origins", "rpc-private-hosts",
    ]

    /// Options that cannot be in a list, because the list may come from another person. Most of these options run
    /// programs, or send data or the contents of files to a server.
    static let trusted: Set<String> = [
        "on-complete", "on-error", "url-command", "hook-timeout", "on-complete-url", "on-complete-bearer-file",
        "notify",
        "data", "data-urlencode", "bearer-file",
        "bearer-command", "certificate", "private-key", "ssh-key",
    ]

    /// The options for the URLs of a list.
    static let item = OptionCatalog.item.names.filter { !command.contains($0) && !trusted.contains($0) }
    static let settings = OptionCatalog.settings.names.filter { !command.contains($0) && !file.contains($0) }
    static let host = settings.filter { !session.contains($0) }
    /// The options for the URLs of a rule.
    static let rule = host.filter { $0 != "max-per-host" }
}
