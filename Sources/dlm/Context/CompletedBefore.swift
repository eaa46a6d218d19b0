import DownloadKit

/// A download that was complete before the command that asks for it, with what became of its file since.
struct CompletedBefore: Sendable {
    let snapshot: DownloadSnapshot
    /// Nil where nothing can be told.
    let fate: CompletedFileFate?

    var failure: DownloadError? { snapshot.record.failure(of: fate) }
}
