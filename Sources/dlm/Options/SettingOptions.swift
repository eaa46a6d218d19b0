import ArgumentParser
import DownloadKit

/// The options that can be set outside of the command line. This struct is used for `config.yaml`, for its sections
/// (hosts and rules), and for the environment.
struct SettingOptions: OptionTable {
    var historyAge: HistoryAge?
    var limitWindow: [LimitWindow] = []
    var rpc = RPCOptions()
    var session = SessionOptions()
    var item = ItemOptions()
    var progress = ProgressOptions()
    var output = OutputOptions()

    static var catalog: OptionCatalog { .settings }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &historyAge, "history-age", in: .session,
            usual: SessionOptions.usual.historyAge.inSeconds.map { Seconds($0).description } ?? "none", .value(),
            "Keep ended downloads in the history for this long, such as 30d. Default: none (forever).")
        row(
            &limitWindow, "limit-window", in: .session, usual: "none", .values(),
            "Limit the speed in a window of local time, such as 'Mon-Fri 08:00-18:00 1M'; repeatable. If several "
                + "windows are open, the first one applies. Default: none.")
        row.group(&rpc, "Network access")
        row.group(&session)
        row.group(&item)
        row.group(&progress)
        row.group(&output)
    }

    /// Applies the options to the configuration of a session. A speed limit in these options is for all downloads of
    /// the session together.
    func apply(to configuration: inout SessionConfiguration) {
        if !limitWindow.isEmpty { configuration.timetable = RateTimetable(limitWindow.compactMap(\.entry)) }
        if let historyAge { configuration.historyAge.inSeconds = historyAge.seconds }
        if let maxConcurrent = session.maxConcurrent { configuration.maxConcurrent = maxConcurrent }
        if let maxPerHost = session.maxPerHost { configuration.maxPerHost = maxPerHost }
        if let limitRate = item.transfer.limitRate { configuration.rateLimit = limitRate.limit }
    }
}

struct HistoryAge: ParsedArgument, Equatable {
    let seconds: Double?

    /// Reads an argument. 0 is refused, because it could mean "without limit" or "not at all".
    init(argument: String) throws {
        if argument.lowercased() == "none" {
            seconds = nil
            return
        }
        guard let age = try? Seconds(argument: argument), age.value > 0 else {
            throw ValidationError("give an age such as 30d or 12h, or none to keep it forever")
        }
        seconds = age.value
    }
}
