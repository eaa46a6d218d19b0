import ArgumentParser
import DownloadKit

/// The options that apply to the whole session instead of one download.
struct SessionOptions: OptionTable {
    var maxConcurrent: Int?
    var maxPerHost: Int?

    static let usual = SessionConfiguration(kind: .foreground, stateFolder: "")

    func validate() throws {
        if let maxConcurrent, !SessionSettings.possibleDownloads.contains(maxConcurrent) {
            throw ValidationError("-j \(maxConcurrent): give 1 to 1000 downloads")
        }
        if let maxPerHost, !SessionSettings.possibleDownloads.contains(maxPerHost) {
            throw ValidationError("--max-per-host \(maxPerHost): give 1 to 1000 downloads")
        }
    }

    /// The option that was given, as text for messages; nil if none was given.
    var given: String? { maxConcurrent.map { "-j \($0)" } ?? maxPerHost.map { "--max-per-host \($0)" } }

    /// Applies the options to a configuration that already has the values of the settings.
    /// - Parameter limitsEach: Whether the command gives a speed limit for each download. If so, there is no limit for
    ///   all downloads together.
    func apply(to configuration: inout SessionConfiguration, _ settings: Settings, limitsEach: Bool) {
        if let maxConcurrent {
            configuration.maxConcurrent = maxConcurrent
            // Without a setting for hosts, all running downloads may be from one host.
            configuration.maxPerHost = settings.general?.session.maxPerHost ?? maxConcurrent
        }
        if let maxPerHost {
            configuration.maxPerHost = maxPerHost
            configuration.hostLimits = [:]
        }
        if limitsEach { configuration.rateLimit = nil }
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &maxConcurrent, "max-concurrent", letter: "j", in: .session, usual: "\(Self.usual.maxConcurrent)",
            .word("n"),
            "Run at most N downloads at the same time, 1 to 1000. Default: 16.")
        row(
            &maxPerHost, "max-per-host", in: [.settings, .hosts], usual: "\(Self.usual.maxPerHost)", .word("n"),
            "Run at most N downloads from one host, 1 to 1000. Default: the value of --max-concurrent.")
    }
}
