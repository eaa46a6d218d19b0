import DownloadKit

/// The end of a download, as a command reports it.
struct EndedDownload: Sendable {
    let snapshot: DownloadSnapshot
    /// Whether the download was complete before this command began.
    let wasComplete: Bool
    /// The fate of the file of a complete download; nil if there is no file, or if its fate is not known.
    let fate: CompletedFileFate?

    init(_ snapshot: DownloadSnapshot) {
        let hasFile = snapshot.record.state == .completed && snapshot.record.completed?.isStream == false
        (self.snapshot, wasComplete, fate) = (snapshot, false, hasFile ? .there : nil)
    }

    /// Creates the end of a download that was complete before this command began.
    init(before snapshot: DownloadSnapshot, fate: CompletedFileFate?) {
        (self.snapshot, wasComplete, self.fate) = (snapshot, true, fate)
    }

    /// The error; nil if the download is complete and its file is in place, as far as that is known.
    var failure: DownloadError? {
        let record = snapshot.record
        return record.state == .completed ? record.failure(of: fate) : StateText.failure(record.state)
    }
}
