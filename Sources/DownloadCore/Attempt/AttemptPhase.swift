/// A phase or a step of an attempt, which works on what the phases share.
///
/// The larger steps are `@inline(never)`: inlined, what they copy lies in the async frames that each waiting task keeps. With
/// everything inlined the frame of `Probe.run` takes 28,096 bytes and that of `Attempt.nextMessage` 3,264.
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
