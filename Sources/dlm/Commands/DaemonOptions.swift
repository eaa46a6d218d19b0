import ArgumentParser
import DownloadKit

/// The options of the background session.
struct DaemonOptions: ParsableArguments {
    @OptionGroup var session: SessionOptions

    @Option(
        "Limit all downloads together to this many bytes per second, such as 500k or 2M; none lifts the limit.",
        value: "rate")
    var limitRate: ByteRate?

    @OptionGroup(title: "Network access") var rpc: RPCOptions

    /// The settings to change in a session that is already running.
    var settings: SessionSettings {
        SessionSettings(
            maxConcurrent: session.maxConcurrent, maxPerHost: session.maxPerHost,
            rateLimit: limitRate.map { $0.limit ?? 0 })
    }

    /// Applies the options to a configuration that already has the values of the settings.
    func apply(to configuration: inout SessionConfiguration, _ settings: Settings) {
        session.apply(to: &configuration, settings, limitsEach: false)
        if let limitRate { configuration.rateLimit = limitRate.limit }
    }
}
