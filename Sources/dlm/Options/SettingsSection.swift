import DownloadKit

/// Settings of config.yaml that count for some URLs only.
enum SettingsSection: Hashable, Sendable {
    /// Below `hosts`.
    case host(HostPattern)
    /// One of `rules`.
    case rule(SettingsRule)

    func matches(_ url: SourceURL) -> Bool {
        switch self {
        case .host(let pattern): pattern.matches(url.host)
        case .rule(let rule): rule.matches(url)
        }
    }

    /// Whether its settings count less than those of another section that matches the same URL: closer hosts count more,
    /// rules count more than hosts, and later rules more than earlier ones.
    func isBefore(_ other: SettingsSection) -> Bool {
        switch (self, other) {
        case (.host(let one), .host(let two)): two.isCloser(than: one)
        case (.rule(let one), .rule(let two)): one.number < two.number
        case (.host, .rule): true
        case (.rule, .host): false
        }
    }
}

/// The URLs that one of `rules` is about.
struct SettingsRule: Hashable, Sendable {
    /// Its place in the list, from 1.
    let number: Int
    /// Nil for any host.
    let host: HostPattern?
    /// A pattern for the whole path, in which `*` stands for any characters, `/` included; nil for any path.
    let path: String?

    func matches(_ url: SourceURL) -> Bool {
        guard host?.matches(url.host) ?? true else { return false }
        guard let path else { return true }
        let whole = url.path.utf8.prefix { $0 != UInt8(ascii: "?") }
        return HostPattern.matches(path.utf8[...], whole)
    }
}
