import DownloadKit

/// A download that was complete before this command began, and what became of its file since.
struct CompletedBefore: Sendable {
    let snapshot: DownloadSnapshot
    /// The fate of the file; nil if it is not known.
    let fate: CompletedFileFate?

    var failure: DownloadError? { snapshot.record.failure(of: fate) }
}
