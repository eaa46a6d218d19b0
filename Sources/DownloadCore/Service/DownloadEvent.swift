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
    case didRestart(DownloadSnapshot, why: RestartReason)
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

extension DownloadEvent {
    /// The kind that the log of the store has for the event.
    package var kind: LoggedEvent.Kind {
        switch self {
        case .didAdd: .added
        case .didStart: .started
        case .didRestart: .restarted
        case .willRetry, .didPostpone: .waiting
        case .didPause: .paused
        case .didResume: .resumed
        case .didCancel: .cancelled
        case .didRemove: .removed
        case .didChange: .changed
        case .didComplete: .completed
        case .didFail: .failed
        }
    }

    /// Creates the event that the log reports. Returns nil for a failure without an error.
    /// - Parameter snapshot: The download, with the state that the log reports.
    package init?(_ logged: LoggedEvent, of snapshot: DownloadSnapshot) {
        let error = logged.state?.error
        switch logged.kind {
        case .added: self = .didAdd(snapshot)
        case .resumed: self = .didResume(snapshot)
        case .started: self = .didStart(snapshot, atOffset: logged.received)
        case .restarted: self = .didRestart(snapshot, why: .other("bytes that were fetched do not count any more"))
        case .waiting: self = error.map { .willRetry(snapshot, $0) } ?? .didPostpone(snapshot)
        case .paused: self = .didPause(snapshot)
        case .cancelled: self = .didCancel(snapshot)
        case .completed: self = .didComplete(snapshot)
        case .failed:
            guard let error else { return nil }
            self = .didFail(snapshot, error)
        case .removed: self = .didRemove(snapshot)
        case .changed: self = .didChange(snapshot)
        }
    }
}

/// The reason why bytes that were present are fetched again. The description is a text for users.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RestartReason: Sendable, Equatable, CustomStringConvertible {
    /// The folder was deleted, with the partial files of all its downloads.
    case folderDeleted
    /// The partial file was deleted.
    case partialDeleted
    /// There is no strong validator. The bytes that are present are kept and compared.
    case versionUnproved
    /// Parts of the file cannot be requested. The bytes that are present are kept and compared.
    case partsUnavailable
    /// The server sends no usable parts. The bytes that are present are kept and compared.
    case partsUnusable
    /// Another reason, as text. The text may come from the server.
    case other(String)

    public var description: String {
        switch self {
        case .folderDeleted: "its folder was deleted"
        case .partialDeleted: "its partial file is gone"
        case .versionUnproved:
            "without a strong ETag or Last-Modified, nothing proves that the server's file is still the same; "
                + Self.comparison
        case .partsUnavailable: "parts of the file cannot be requested; \(Self.comparison)"
        case .partsUnusable: "the server sends no usable parts; \(Self.comparison)"
        case .other(let text): text
        }
    }

    private static let comparison = "the fetched bytes are kept and compared"

    /// Whether the bytes that are present are kept and compared with the fetched bytes.
    package var keepsBytes: Bool { [.versionUnproved, .partsUnavailable, .partsUnusable].contains(self) }
}
