/// A change of a download. Each change is announced once, and only after it has happened. New versions may add cases.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DownloadEvent: Sendable, Equatable {
    /// The download is new in the session.
    case didAdd(DownloadSnapshot)
    /// The download runs. `atOffset` bytes were present before.
    case didStart(DownloadSnapshot, atOffset: Int64)
    /// Bytes that were present are fetched again. If the server has a new version of the file, the bytes of the old
    /// version were deleted. If nothing proves that the version is the same, the bytes of the partial file are kept and
    /// compared with the fetched bytes.
    case didRestart(DownloadSnapshot, why: String)
    /// An attempt failed, and another one follows.
    case willRetry(DownloadSnapshot, DownloadError)
    /// The download may not run now. It continues without a command at the time in its state.
    case didPostpone(DownloadSnapshot)
    /// The download is paused, with its resume data on disk.
    case didPause(DownloadSnapshot)
    /// The download is in the queue again.
    case didResume(DownloadSnapshot)
    /// The download was cancelled, with its resume data on disk.
    case didCancel(DownloadSnapshot)
    /// The download was removed from the store.
    case didRemove(DownloadSnapshot)
    /// The URL, the mirrors, the priority or the speed limit of the download was changed.
    case didChange(DownloadSnapshot)
    /// The file has its final name.
    case didComplete(DownloadSnapshot)
    /// The download failed, and there will be no other attempt without a command.
    case didFail(DownloadSnapshot, DownloadError)

    /// The reason for a restart if the folder was deleted. It is the same for all downloads of the folder.
    package static let folderIsGone = "its folder was deleted"
    /// The reason for a restart if the partial file was deleted.
    package static let partialIsGone = "its partial file is gone"

    /// The reason for a restart if there is no strong validator. The bytes that are present are fetched again and
    /// compared.
    package static let comparesAll =
        "without a strong ETag or Last-Modified, nothing proves that the server's file is still the same; " + comparison
    /// The end of each reason for a restart that keeps the bytes that are present.
    package static let comparison = "the fetched bytes are kept and compared"

    /// The download at the moment of the event.
    public var snapshot: DownloadSnapshot {
        switch self {
        case .didAdd(let snapshot), .didStart(let snapshot, _), .didRestart(let snapshot, _),
            .willRetry(let snapshot, _), .didPostpone(let snapshot), .didPause(let snapshot), .didResume(let snapshot),
            .didCancel(let snapshot), .didRemove(let snapshot), .didChange(let snapshot),
            .didComplete(let snapshot), .didFail(let snapshot, _):
            snapshot
        }
    }
}
