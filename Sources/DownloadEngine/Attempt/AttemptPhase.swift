import DownloadCore

/// A phase or a step of an attempt. All phases share one ``Attempt``.
///
/// Large values stay out of the frames of async functions, because a task keeps the memory of its frames, also of those
/// that have ended (docs/internals/session.md). Code that copies such values is in synchronous functions marked
/// `@inline(never)`, or in ``recorded(_:)``. For this reason the caller of a step that most attempts skip checks
/// whether the step is needed.
protocol AttemptPhase {
    var attempt: Attempt { get }
}

extension AttemptPhase {
    var record: DownloadRecord {
        get { attempt.record }
        nonmutating _modify { yield &attempt.record }
    }

    /// Returns a part of the record, without a copy of the record in the caller's frame.
    @inline(never)
    func recorded<Value>(_ read: (DownloadRecord) -> Value) -> Value { read(attempt.record) }

    var context: AttemptContext { attempt.context }
    var control: AttemptControl { attempt.control }
    var file: PartialFile? { attempt.local.file }
}
