import ArgumentParser
import DownloadKit
import Synchronization

/// What is set outside of the command line. The closest counts: the environment, then the sections for a host, then the
/// rest of `config.yaml`.
struct Settings: Sendable {
    /// The file's before the environment's; of two for one key the later one counts.
    let entries: [SettingsEntry]
    private let home: String?
    /// Without the sections for hosts; nil where nothing is set.
    let general: SettingOptions?
    /// What counts less first.
    private let sections: [SettingsSection]

    init() {
        (entries, home, sections, general) = ([], nil, [], nil)
    }

    /// - Throws: ``SettingsError`` for the first thing that is wrong, wherever it is: what is overridden counts, too.
    init(environment: [String: String]) throws(SettingsError) {
        try self.init(
            SettingsFile.entries(environment: environment) + SettingsEntry.entries(environment),
            home: environment["HOME"])
    }

    init(_ entries: [SettingsEntry], home: String?) throws(SettingsError) {
        self.entries = entries
        self.home = home
        sections = Set(entries.compactMap(\.section)).sorted { $0.isBefore($1) }
        for section in sections { _ = try Self.options(entries.filter { $0.section == section }, home) }
        let general = entries.filter { $0.section == nil }
        _ = try Self.options(general, home)
        self.general = try Self.options(Self.counting(general), home)
    }

    private static func options(_ entries: [SettingsEntry], _ home: String?) throws(SettingsError) -> SettingOptions? {
        if entries.isEmpty { return nil }
        do {
            return try SettingOptions.read(entries.flatMap { try $0.arguments(home: home) })
        } catch {
            for entry in entries { try check(entry, home) }
            // Each alone was right.
            let place = entries.last?.place ?? ""
            throw SettingsError("\(place): \(UsageReport.sentence(error, of: SettingArguments.self))")
        }
    }

    private static func check(_ entry: SettingsEntry, _ home: String?) throws(SettingsError) {
        do {
            _ = try SettingOptions.read(entry.arguments(home: home))
        } catch {
            let failure = OptionFailure(error, of: SettingArguments.self, option: entry.key, value: entry.text)
            throw SettingsError(failure.text(entry.place))
        }
    }

    /// Without what a later one overrides; what can be repeated adds up.
    private static func counting(_ entries: [SettingsEntry]) -> [SettingsEntry] {
        var last: [String: Int] = [:]
        for (index, entry) in entries.enumerated() { last[entry.key] = index }
        return entries.enumerated().filter { index, entry in
            last[entry.key] == index || OptionCatalog.settings[entry.key]?.isRepeatable ?? false
        }.map(\.element)
    }

    // MARK: Sections

    /// The sections for a URL by their numbers, what counts less first.
    func sections(for url: SourceURL) -> [Int] {
        if sections.isEmpty { return [] }
        return sections.indices.filter { sections[$0].matches(url) }
    }

    /// What counts for a URL: from the file, its sections, then the environment.
    func entries(for sections: [Int]) -> [SettingsEntry] {
        let own = sections.flatMap { number in entries.filter { $0.section == self.sections[number] } }
        let general = entries.filter { $0.section == nil }
        return Self.counting(
            general.filter { $0.origin != .environment } + own + general.filter { $0.origin == .environment })
    }

    /// Changes what is set for a URL with these sections.
    func apply(to request: inout DownloadRequest, _ sections: [Int], in workingFolder: String?) throws {
        let entries = entries(for: sections)
        let general = entries.filter { $0.section == nil }
        // Fields of one name take each other's place from layer to layer, and stand beside each other within one.
        let layers =
            [general.filter { $0.origin != .environment }]
            + sections.map { number in entries.filter { $0.section == self.sections[number] } }
            + [general.filter { $0.origin == .environment }]
        for layer in layers {
            guard let first = layer.first, var item = try Self.options(layer, home)?.item else { continue }
            // Outside of a section it is for all downloads together.
            if first.section == nil { item.transfer.limitRate = nil }
            try item.apply(to: &request, in: workingFolder)
        }
    }

    // MARK: Sessions

    /// What concerns a session of any kind.
    func apply(to configuration: inout SessionConfiguration) {
        general?.apply(to: &configuration)
        guard !isInEnvironment("max-per-host") else { return }
        for entry in entries where entry.key == "max-per-host" {
            if let host = entry.host { configuration.hostLimits[host] = Int(entry.text) }
        }
    }

    private func isInEnvironment(_ key: String) -> Bool {
        entries.contains { $0.key == key && $0.origin == .environment }
    }
}

extension Settings {
    var color: ColorChoice { general?.output.color ?? .auto }
    var progress: ProgressChoice { general?.progress.progress ?? .auto }
}

/// The settings of this process, read once, by the first who needs them.
final class SettingsMemory: Sendable {
    private let settings = Mutex<Settings?>(nil)

    func settings(_ environment: [String: String]) throws(SettingsError) -> Settings {
        if let known = settings.withLock(\.self) { return known }
        let read = try Settings(environment: environment)
        settings.withLock { $0 = read }
        return read
    }
}

extension Context {
    func settings() throws(SettingsError) -> Settings { try settingsMemory.settings(environment) }

    /// For what cannot fail: whoever works with downloads has told what is wrong with them.
    var knownSettings: Settings { (try? settings()) ?? Settings() }
}

extension Settings: Equatable {
    static func == (one: Settings, other: Settings) -> Bool { one.entries == other.entries }
}
