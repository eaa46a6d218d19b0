import DownloadKit

/// What is set outside of the command line: by the environment, or else by `config.yaml`. Nil is what nobody set.
struct Settings: Equatable, Sendable {
    /// Nil also for `none`: for ever.
    var historyAge: Seconds?
    var maxConcurrent: Int?
    var maxPerHost: Int?
    /// Of a session, for all its downloads together.
    var limitRate: ByteRate?
    var connections: ConnectionCount?
    var retries: Int?
    var retryDelay: Seconds?
    var connectTimeout: Seconds?
    var stallTimeout: Seconds?
    var maxRedirects: Int?

    init() {}

    /// - Throws: ``SettingsError`` for the first thing that is wrong, wherever it is: what is overridden counts, too.
    init(environment: [String: String]) throws(SettingsError) {
        try self.init(Self.entries(environment: environment))
    }

    /// - Parameter entries: of two for one key the later one counts.
    init(_ entries: [SettingsEntry]) throws(SettingsError) {
        for entry in entries { try take(entry) }
    }

    /// What somebody set, the file's before the environment's.
    static func entries(environment: [String: String]) throws(SettingsError) -> [SettingsEntry] {
        try SettingsFile.entries(environment: environment) + SettingsEntry.entries(environment)
    }

    private mutating func take(_ entry: SettingsEntry) throws(SettingsError) {
        do {
            switch entry.key {
            case .historyAge: historyAge = try SettingsValue.age(entry.text)
            case .maxConcurrent: maxConcurrent = try SettingsValue.number(entry.text, in: 1...1000)
            case .maxPerHost: maxPerHost = try SettingsValue.number(entry.text, in: 1...1000)
            case .limitRate: limitRate = try ByteRate(argument: entry.text)
            case .connections: connections = try ConnectionCount(argument: entry.text)
            case .retries: retries = try SettingsValue.number(entry.text, in: 0...1_000_000)
            case .retryDelay: retryDelay = try Seconds(argument: entry.text)
            case .connectTimeout: connectTimeout = try SettingsValue.positive(entry.text)
            case .stallTimeout: stallTimeout = try SettingsValue.positive(entry.text)
            case .maxRedirects: maxRedirects = try SettingsValue.number(entry.text, in: 0...1000)
            }
        } catch {
            throw SettingsError(entry, error)
        }
    }

    /// What concerns a session of any kind.
    func apply(to configuration: inout SessionConfiguration) {
        configuration.historyAge = historyAge?.value
        if let maxConcurrent { configuration.maxConcurrent = maxConcurrent }
        if let maxPerHost { configuration.maxPerHost = maxPerHost }
        if let limitRate { configuration.rateLimit = limitRate.limit }
    }
}

extension Context {
    func settings() throws(SettingsError) -> Settings { try Settings(environment: environment) }
}
