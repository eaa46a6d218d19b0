import DownloadCore

/// A phase or a step of an attempt. All phases share one ``Attempt``.
///
/// Large values stay out of the frames of async functions, because a waiting task keeps its frames in memory. Code that
/// copies such values is in synchronous functions marked `@inline(never)`. With everything inlined, the frame of
/// `Probe.run` takes 28,096 bytes instead of 320. A task also keeps the memory of frames that have ended
/// (`StackAllocator` in Swift's runtime): it allocates slabs of 984 bytes, and larger ones for larger frames. A chain of
/// large frames that was called once keeps its memory until the task ends (docs/internals/session.md). For this reason
/// the caller of a step that most attempts skip checks whether the step is needed.
protocol AttemptPhase {
    var attempt: Attempt { get }
}

extension AttemptPhase {
    var record: DownloadRecord {
        get { attempt.record }
        nonmutating _modify { yield &attempt.record }
    }
    var context: AttemptContext { attempt.context }
    var control: AttemptControl { attempt.control }
    var file: PartialFile? { attempt.local.file }
}
