/// Where options of one download cannot be given, for all that ``ItemOptions`` has them.
enum OptionScope {
    /// For the whole command only.
    static let command: Set<String> = ["checksum-file", "on-complete", "on-error", "hook-timeout"]
}
