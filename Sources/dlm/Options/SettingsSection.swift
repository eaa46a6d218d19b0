import DownloadKit

/// A section of config.yaml, whose settings apply to some URLs only.
enum SettingsSection: Hashable, Sendable {
    case host(HostPattern)
    case rule(SettingsRule)

    func matches(_ url: SourceURL) -> Bool {
        switch self {
        case .host(let pattern): pattern.matches(url.host)
        case .rule(let rule): rule.matches(url)
        }
    }

    /// Returns whether another section that matches the same URL overrides this section. A more specific host overrides
    /// another host. A rule overrides a host, and a later rule overrides an earlier rule.
    func isBefore(_ other: SettingsSection) -> Bool {
        switch (self, other) {
        case (.host(let one), .host(let two)): two.isCloser(than: one)
        case (.rule(let one), .rule(let two)): one.number < two.number
        case (.host, .rule): true
        case (.rule, .host): false
        }
    }
}

/// The condition of an entry of `rules`: the URLs that its settings apply to.
struct SettingsRule: Hashable, Sendable {
    /// The position of the entry in the list, counted from 1.
    let number: Int
    /// The pattern for the host; nil for any host.
    let host: HostPattern?
    /// A pattern for the whole path, in which `*` stands for any characters, `/` included; nil for any path.
    let path: String?

    func matches(_ url: SourceURL) -> Bool {
        guard host?.matches(url.host) ?? true else { return false }
        guard let path else { return true }
        return HostPattern.matches(path.utf8[...], url.path.utf8[...])
    }
}
