import ArgumentParser
import DownloadKit
import Foundation

/// The options that say when a download of `get` starts, when it is retried, and when it is given up.
struct AttemptOptions: OptionTable {
    var retryOn: StatusCodes?
    var maxTime: Seconds?
    var at: StartArgument?
    var window: [TimeWindow] = []
    var wait: Seconds?
    var paused = false

    func validate() throws {
        if maxTime?.value == 0 { throw ValidationError("--max-time: give more than 0") }
        if at != nil || !window.isEmpty { try LocalTime.check() }
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &retryOn, "retry-on", .value("codes"), "Also retry after these status codes, such as 403 or 403,520-529.",
            .field(\.retry.statuses))
        row(
            &maxTime, "max-time", .value("time"),
            "Give up a download after this time, which includes retries, but not waiting in the queue. The fetched "
                + "bytes are kept; the exit status is 4.", .seconds(\.timeouts.total.inSeconds))
        row(
            &at, "at", in: .file, .value("time"),
            "Start at this time: 18:00, 'tomorrow 06:00', '2026-12-24 18:00' or +2h30m. Times are local, unless Z or "
                + "an offset such as +01:00 follows.",
            .sets({ $0.ownSchedule.start = $1.moment }, shows: { $0.schedule?.start.map { ShowText.text($0) } }))
        row(
            &window, "window", .values("window"),
            "Run only in this window of local time, such as 01:00-06:00 or 'Mon-Fri 22:00-06:00'; repeatable. A "
                + "download that is unfinished at the end of the window continues in the next window.",
            .sets { $0.ownSchedule.windows = $1 })
        row.show(
            "window",
            each: { request in
                guard let schedule = request.schedule else { return [] }
                let isElsewhere = schedule.timeZone != TimeZone.current.identifier
                return schedule.windows.map { isElsewhere ? "\($0) (\(schedule.timeZone))" : "\($0)" }
            })
        row(
            &wait, "wait", .value("time"), "Wait this long between the starts of two downloads from one host.",
            .sets({ $0.pacing = $1.value > 0 ? $1.value : nil }, shows: { $0.pacing.map(GivenOptions.seconds) }))
        row(
            &paused, "paused", .flag,
            "Add the download as paused; dlm resume starts it. Without -b, this command waits until the download is "
                + "resumed and finished.", .sets { $0.startsPaused = $1 })
    }
}
