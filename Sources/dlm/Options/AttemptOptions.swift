import ArgumentParser
import DownloadKit
import Foundation

/// The options that say when a download of `get` starts, when it is retried, and when it is given up.
struct AttemptOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Also retry after these status codes, such as 403 or 403,520-529.", valueName: "codes"),
        transform: CodeList.init(argument:))
    var retryOn: CodeList?

    @Option(
        help: ArgumentHelp(
            "Give up a download after this time, which includes retries, but not waiting in the queue. The fetched "
                + "bytes are kept; the exit status is 4.", valueName: "time"),
        transform: Seconds.init(argument:))
    var maxTime: Seconds?

    @Option(
        help: ArgumentHelp(
            "Start at this time: 18:00, 'tomorrow 06:00', '2026-12-24 18:00' or +2h30m. Times are local, unless Z or "
                + "an offset such as +01:00 follows.", valueName: "time"),
        transform: StartArgument.init(argument:))
    var at: StartArgument?

    @Option(
        help: ArgumentHelp(
            "Run only in this window of local time, such as 01:00-06:00 or 'Mon-Fri 22:00-06:00'; repeatable. A "
                + "download that is unfinished at the end of the window continues in the next window.",
            valueName: "window"),
        transform: TimeWindow.init(argument:))
    var window: [TimeWindow] = []

    @Option(
        help: ArgumentHelp(
            "Wait this long between the starts of two downloads from one host.", valueName: "time"),
        transform: Seconds.init(argument:))
    var wait: Seconds?

    @Flag(
        help: """
            Add the download as paused; dlm resume starts it. Without -b, this command waits until the download is \
            resumed and finished.
            """)
    var paused = false

    func validate() throws {
        if maxTime?.value == 0 { throw ValidationError("--max-time: give more than 0") }
        if at != nil || !window.isEmpty { try LocalTime.check() }
    }

    func apply(to request: inout DownloadRequest) {
        if let retryOn { request.retry.statuses = retryOn.codes }
        if let maxTime { request.timeouts.total.inSeconds = maxTime.value }
        if paused { request.startsPaused = true }
        if at != nil || !window.isEmpty {
            var schedule = request.schedule ?? DownloadSchedule()
            schedule.start = at?.moment ?? schedule.start
            if !window.isEmpty { schedule.windows = window }
            request.schedule = schedule
        }
        if let wait { request.pacing = wait.value > 0 ? wait.value : nil }
    }
}

extension AttemptOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        retryOn = words.value("retry-on", as: CodeList.init(argument:))
        maxTime = words.value("max-time", as: Seconds.init(argument:))
        at = words.value("at", as: StartArgument.init(argument:))
        window = words.values("window", as: TimeWindow.init(argument:))
        wait = words.value("wait", as: Seconds.init(argument:))
        paused = words.flag("paused")
    }
}

extension AttemptOptions: TellingOptions {
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        let schedule = request.schedule
        let isElsewhere = schedule.map { $0.timeZone != TimeZone.current.identifier } ?? false
        let zone = isElsewhere ? schedule.map { " (\($0.timeZone))" } ?? "" : ""
        return [
            ("retry-on", request.retry.statuses?.description),
            ("max-time", request.timeouts.total.map(GivenOptions.seconds)),
            ("at", schedule?.start.map { ShowText.text($0) }),
        ]
            + (schedule?.windows ?? []).map { ("window", "\($0)\(zone)") }
            + [("wait", request.pacing.map(GivenOptions.seconds))]
    }
}
