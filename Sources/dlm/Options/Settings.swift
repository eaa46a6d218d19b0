import ArgumentParser
import DownloadKit
import Synchronization

/// The settings in the environment and in `config.yaml`. A value in the environment overrides the sections of the file
/// (hosts and rules), and a section overrides the rest of the file.
struct Settings: Sendable, Equatable {
    /// The entries of the file, then the entries of the environment. If two entries have the same key, the later one is
    /// used.
    let entries: [SettingsEntry]
    private let home: String?
    /// The settings outside of the sections (hosts and rules); nil if there are none.
    let general: SettingOptions?
    /// The sections, the least specific one first.
    private let sections: [SettingsSection]
    /// The digests that a file must match if no setting says so (``Context/usualProof``).
    var usualProof = ProofPolicy.auto

    init() {
        (entries, home, sections, general) = ([], nil, [], nil)
    }

    /// - Throws: ``SettingsError`` for the first error, even if another entry overrides the entry with the error.
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
        return try SettingOptions.read(entries, { try $0.arguments(home: home) }) { error, entry in
            guard let entry else {
                let place = entries.last?.place ?? ""
                return SettingsError("\(place): \(UsageReport.sentence(error, of: SettingOptions.self))")
            }
            let failure = OptionFailure(error, of: SettingOptions.self, option: entry.key, value: entry.text)
            return SettingsError(failure.text(entry.place))
        }
    }

    /// Returns the entries that no later entry overrides, and all entries of options that can be repeated.
    private static func counting(_ entries: [SettingsEntry]) -> [SettingsEntry] {
        var last: [String: Int] = [:]
        for (index, entry) in entries.enumerated() { last[entry.key] = index }
        return entries.enumerated().filter { index, entry in
            last[entry.key] == index || OptionCatalog.settings[entry.key]?.isRepeatable ?? false
        }.map(\.element)
    }

    // MARK: Sections

    /// Returns the indices of the sections for a URL, the least specific section first.
    func sections(for url: SourceURL) -> [Int] {
        if sections.isEmpty { return [] }
        return sections.indices.filter { sections[$0].matches(url) }
    }

    /// Returns the entries that apply to a URL: from the file, from the given sections, and from the environment.
    func entries(for sections: [Int]) -> [SettingsEntry] {
        let own = sections.flatMap { number in entries.filter { $0.section == self.sections[number] } }
        let general = entries.filter { $0.section == nil }
        return Self.counting(
            general.filter { $0.origin != .environment } + own + general.filter { $0.origin == .environment })
    }

    /// Applies the settings for a URL, and the default values of the program, to a request of the library.
    /// - Parameter sections: The sections that match the URL, from ``sections(for:)``.
    func apply(to request: inout DownloadRequest, _ sections: [Int], in workingFolder: String?) throws {
        request.proof = usualProof
        let entries = entries(for: sections)
        let general = entries.filter { $0.section == nil }
        // The settings are applied in layers. A header field of a layer replaces the fields of the same name in earlier
        // layers. Several fields of the same name in one layer are all kept.
        let layers =
            [general.filter { $0.origin != .environment }]
            + sections.map { number in entries.filter { $0.section == self.sections[number] } }
            + [general.filter { $0.origin == .environment }]
        for layer in layers {
            guard let first = layer.first, var item = try Self.options(layer, home)?.item else { continue }
            // Outside of sections, the speed limit applies to all downloads together, not to this download.
            if first.section == nil { item.transfer.limitRate = nil }
            try item.apply(to: &request, in: workingFolder)
        }
    }

    // MARK: Sessions

    func apply(to configuration: inout SessionConfiguration) {
        general?.apply(to: &configuration)
        let limits = entries.filter { $0.key == "max-per-host" }
        if limits.contains(where: { $0.origin == .environment }) { return }
        for entry in limits { if let host = entry.host { configuration.hostLimits[host] = Int(entry.text) } }
    }
}

extension Settings {
    var color: ColorChoice { general?.output.color ?? .auto }
    var progress: ProgressChoice { general?.progress.progress ?? .auto }
}

/// The settings of this process. They are read once, when they are first needed.
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
    func settings() throws(SettingsError) -> Settings {
        var settings = try settingsMemory.settings(environment)
        settings.usualProof = usualProof
        return settings
    }

    /// The settings for code that cannot throw. If the settings have an error, which the command has already reported,
    /// no settings are returned.
    var knownSettings: Settings { (try? settings()) ?? Settings() }
}
