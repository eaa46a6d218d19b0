import ArgumentParser
import DownloadKit

/// The options of the background session.
struct DaemonOptions: ParsableArguments {
    @Option(
        name: [.customShort("j"), .long],
        help: ArgumentHelp("Run at most N downloads at the same time, 1 to 1000. Default: 16.", valueName: "n"))
    var maxConcurrent: Int?

    @Option(
        help: ArgumentHelp(
            "Run at most N downloads from one host, 1 to 1000. Default: the value of --max-concurrent.", valueName: "n")
    )
    var maxPerHost: Int?

    @Option(
        help: ArgumentHelp(
            "Limit all downloads together to this many bytes per second, such as 500k or 2M; none lifts the limit.",
            valueName: "rate"),
        transform: ByteRate.init(argument:))
    var limitRate: ByteRate?

    @OptionGroup(title: "Network access") var rpc: RPCOptions

    func validate() throws {
        if let maxConcurrent, !(1...1000).contains(maxConcurrent) {
            throw ValidationError("-j \(maxConcurrent): give 1 to 1000 downloads")
        }
        if let maxPerHost, !(1...1000).contains(maxPerHost) {
            throw ValidationError("--max-per-host \(maxPerHost): give 1 to 1000 downloads")
        }
    }

    /// The settings to change in a session that is already running.
    var settings: SessionSettings {
        SessionSettings(
            maxConcurrent: maxConcurrent, maxPerHost: maxPerHost, rateLimit: limitRate.map { $0.limit ?? 0 })
    }

    func apply(to configuration: inout SessionConfiguration) {
        if let maxConcurrent {
            configuration.maxConcurrent = maxConcurrent
            configuration.maxPerHost = maxConcurrent
        }
        if let maxPerHost {
            configuration.maxPerHost = maxPerHost
            configuration.hostLimits = [:]
        }
        if let limitRate { configuration.rateLimit = limitRate.limit }
    }

    /// The options as arguments of a command line.
    var arguments: [String] {
        var words: [String] = []
        if let maxConcurrent { words += ["--max-concurrent", "\(maxConcurrent)"] }
        if let maxPerHost { words += ["--max-per-host", "\(maxPerHost)"] }
        if let limitRate { words += ["--limit-rate", limitRate.limit.map { "\($0)" } ?? "none"] }
        return words + rpc.arguments
    }
}
