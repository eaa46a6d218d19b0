/// Where an option cannot be given as text, for all that its struct has it. What is not named here can be given
/// everywhere: an option that is added to a group becomes a setting by that.
enum OptionScope {
    /// On the command line only: one file's own, or what a command prints.
    static let command: Set<String> = ["checksum-file", "json", "quiet", "verbose"]
    /// Not as a setting: it would be wrong for the next file.
    static let file: Set<String> = [
        "output", "checksum", "query", "method", "data", "data-urlencode", "mirror", "at", "repair",
    ]
    /// Not for one host.
    static let session: Set<String> = [
        "history-age", "limit-window", "max-concurrent", "progress", "color", "rpc", "rpc-listen", "rpc-folders",
        "rpc-hosts", "rpc-origins", "rpc-private-hosts",
    ]

    /// Not in a list, which may come from somebody else: these run programs, or send what is in files to the URL.
    static let trusted: Set<String> = [
        "on-complete", "on-error", "url-command", "hook-timeout", "on-complete-url", "on-complete-bearer-file",
        "notify",
        "data", "data-urlencode", "bearer-file",
        "bearer-command", "certificate", "private-key", "ssh-key",
    ]

    /// Names for the URLs of a list.
    static let item = OptionCatalog.item.names.filter { !command.contains($0) && !trusted.contains($0) }
    static let settings = OptionCatalog.settings.names.filter { !command.contains($0) && !file.contains($0) }
    static let host = settings.filter { !session.contains($0) }
    /// Names for the URLs of a rule.
    static let rule = host.filter { $0 != "max-per-host" }
}
