import DownloadKit

/// A download that was complete before this command began, and whether its file is still there and unchanged.
struct CompletedBefore: Sendable {
    let snapshot: DownloadSnapshot
    /// What became of the file after the download was complete; nil if it is not known.
    let fate: CompletedFileFate?

    var failure: DownloadError? { snapshot.record.failure(of: fate) }
}
