import ArgumentParser
import DownloadKit

/// When a download of `get` begins, when it is tried again, and when it has had its time.
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

    @Flag(
        help: """
            Record it and hold it back: it begins with dlm resume, from anywhere. Without -b this command waits for that.
            """)
    var paused = false

    func validate() throws {
        if maxTime?.value == 0 { throw ValidationError("--max-time: give more than 0") }
    }

    func apply(to request: inout DownloadRequest) {
        if let retryOn { request.retry.statuses = retryOn.codes }
        if let maxTime { request.timeouts.total = maxTime.value }
        if paused { request.startsPaused = true }
    }
}
