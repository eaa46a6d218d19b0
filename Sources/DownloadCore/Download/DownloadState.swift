import Foundation

/// The state of a download. It is the only value that says what the download does.
public enum DownloadState: Codable, Sendable, Equatable {
    /// The download waits for its turn.
    case queued
    /// An attempt is running.
    case running
    /// The download continues by itself; if a time is known, not later than this time.
    case waiting(WaitReason, until: Date?)
    /// The download continues when it is resumed.
    case paused(PauseReason)
    /// The file has its final name.
    case completed
    /// The download failed, and can be resumed.
    case failed(DownloadError)
    /// The download was cancelled, and can be resumed.
    case cancelled

    /// The reason why a download waits.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum WaitReason: Codable, Sendable, Equatable {
        /// An attempt failed, and another attempt follows.
        case retry(DownloadError)
        /// This machine has no network connection to the server. The download continues when there is one. The failed
        /// attempt is not counted.
        case network(DownloadError)
        /// The schedule does not allow the download to run now.
        case schedule
        /// The server asked for a pause in its answer to another download, which had this status. Only snapshots have
        /// this reason.
        case server(status: Int)
    }

    /// The reason why a download is paused.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum PauseReason: String, Codable, Sendable, CaseIterable {
        /// A caller paused the download (`user`). Or the session process ended: by SIGHUP (`hangup`), by SIGINT
        /// (`interrupt`), or in an orderly shutdown (`terminate`).
        case user, hangup, interrupt, terminate
        /// The session of the download was killed (kill -9, loss of power). Another session found the download
        /// afterwards.
        case interrupted
    }

    /// The state without its data. Lists can be filtered by this kind, and the store has an index for it.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// The state with the same name.
        case queued, running, waiting, paused, completed, failed, cancelled

        /// Whether a session is working on the download, or will do so without being asked again.
        public var isActive: Bool { self == .queued || self == .running || self == .waiting }
        /// Whether the download has ended. Its state then does not change by itself. A caller can start the download
        /// again, or cancel it if it failed.
        public var isEnded: Bool { self == .completed || self == .failed || self == .cancelled }
    }

    /// The state without its data.
    public var kind: Kind {
        switch self {
        case .queued: .queued
        case .running: .running
        case .waiting: .waiting
        case .paused: .paused
        case .completed: .completed
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }

    /// The error because of which the download failed, or waits for another attempt.
    public var error: DownloadError? {
        switch self {
        case .failed(let error), .waiting(.retry(let error), _), .waiting(.network(let error), _): error
        case .waiting(.schedule, _), .waiting(.server, _), .queued, .running, .paused, .completed, .cancelled: nil
        }
    }

    package var waitsForNetwork: Bool {
        if case .waiting(.network, _) = self { true } else { false }
    }

    /// Returns whether the state may change to another kind. A completed download may be requested again. Whether
    /// anything is fetched then depends on its file on disk.
    package func canMove(to next: Kind) -> Bool {
        let possible: Set<Kind> =
            switch kind {
            case .queued: [.running, .waiting, .paused, .failed, .cancelled]
            case .running: [.queued, .waiting, .paused, .completed, .failed, .cancelled]
            case .waiting: [.queued, .running, .paused, .failed, .cancelled]
            case .paused, .failed: [.queued, .cancelled]
            case .completed, .cancelled: [.queued]
            }
        return possible.contains(next)
    }
}
