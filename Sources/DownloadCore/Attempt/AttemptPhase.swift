/// A phase or a step of an attempt, which works on what the phases share.
protocol AttemptPhase {
    var attempt: Attempt { get }
}

extension AttemptPhase {
    var record: DownloadRecord {
        get { attempt.record }
        nonmutating _modify { yield &attempt.record }
    }
    var context: RunnerContext { attempt.context }
    var control: RunnerControl { attempt.control }
    /// The partial file; nil until there is one.
    var file: PartialFile? { attempt.local.file }
}
