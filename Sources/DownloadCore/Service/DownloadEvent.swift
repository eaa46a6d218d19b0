/// A change, as it is announced: once, and only when it really happened.
public enum DownloadEvent: Sendable, Equatable {
    /// The download is new in the session.
    case didAdd(DownloadSnapshot)
    /// It runs; `atOffset` bytes are there already.
    case didStart(DownloadSnapshot, atOffset: Int64)
    /// Everything is fetched again: the remote has a new version, and what was there of the old one was dropped; or
    /// nothing proves that it has not, and what was there is compared.
    case didRestart(DownloadSnapshot, why: String)
    /// An attempt failed, and another one follows.
    case willRetry(DownloadSnapshot, DownloadError)
    /// It is not to run now, and goes on by itself at the time that its state tells.
    case didPostpone(DownloadSnapshot)
    /// The download is paused, with its resume data on disk.
    case didPause(DownloadSnapshot)
    /// Back in the queue.
    case didResume(DownloadSnapshot)
    /// The download was cancelled, with its resume data on disk.
    case didCancel(DownloadSnapshot)
    /// The download was forgotten.
    case didRemove(DownloadSnapshot)
    /// Its address, priority or rate limit.
    case didChange(DownloadSnapshot)
    /// The file has its final name.
    case didComplete(DownloadSnapshot)
    /// The download failed, and is not tried again by itself.
    case didFail(DownloadSnapshot, DownloadError)

    /// The reason of a restart whose folder was deleted: it is the same for all downloads of the folder.
    package static let folderIsGone = "its folder was deleted"
    /// The reason of a restart whose partial file was deleted.
    package static let partialIsGone = "its partial file is gone"

    /// The reason of a restart in which what is here is fetched again, for want of a validator, and compared.
    package static let comparesAll =
        "without a strong ETag or Last-Modified, nothing proves that the server's file is still the same; the fetched bytes are "
        + "kept and compared"

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
