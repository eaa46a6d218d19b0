import ArgumentParser
import DownloadKit
import Foundation

/// The options that say when a download of `get` starts, when it is retried, and when it is given up.
struct AttemptOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Also try again after these status codes, such as 403 or 403,520-529.", valueName: "codes"),
        transform: CodeList.init(argument:))
    var retryOn: CodeList?

    @Option(
        help: ArgumentHelp(
            "Give a download up with status 4 when it has taken so long, repetitions included and time in the queue not; "
                + "what was fetched is kept.", valueName: "time"),
        transform: Seconds.init(argument:))
    var maxTime: Seconds?

    @Option(
        help: ArgumentHelp(
            "Begin then: 18:00 (when clocks show that next), 'tomorrow 06:00', '2026-12-24 18:00' (local time, unless Z or "
                + "+01:00 follows), or +2h30m.", valueName: "time"),
        transform: StartArgument.init(argument:))
    var at: StartArgument?

    @Option(
        help: ArgumentHelp(
            "Run only within this span of local time, such as 01:00-06:00 or 'Mon-Fri 22:00-06:00'; what is not complete at "
                + "its end goes on in the next. Repeatable.", valueName: "window"),
        transform: TimeWindow.init(argument:))
    var window: [TimeWindow] = []

    @Option(
        help: ArgumentHelp(
            "Let so long pass between the starts of two downloads from one host.", valueName: "time"),
        transform: Seconds.init(argument:))
    var wait: Seconds?

    @Flag(
        help: """
            Record it and hold it back: it begins with dlm resume, from anywhere. Without -b this command waits for that.
            """)
    var paused = false

    func validate() throws {
        if maxTime?.value == 0 { throw ValidationError("--max-time: give more than 0") }
        if at != nil || !window.isEmpty { try LocalTime.check() }
    }

    func apply(to request: inout DownloadRequest) {
        if let retryOn { request.retry.statuses = retryOn.codes }
        if let maxTime { request.timeouts.total = maxTime.value }
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
