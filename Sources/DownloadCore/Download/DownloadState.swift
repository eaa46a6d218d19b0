import Foundation

/// The state of a download. No other flag is needed to know what the download does.
public enum DownloadState: Codable, Sendable, Equatable {
    /// The download waits for its turn.
    case queued
    /// An attempt is running.
    case running
    /// The download continues by itself, at this time at the latest if a time is known.
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
    public enum WaitReason: Codable, Sendable, Equatable {
        /// An attempt failed, and another attempt follows.
        case retry(DownloadError)
        /// This machine has no network to the server. The download continues when there is one, and no attempt is
        /// counted.
        case network(DownloadError)
        /// The schedule does not let the download run now.
        case schedule
    }

    /// The reason why a download is paused.
    public enum PauseReason: String, Codable, Sendable, CaseIterable {
        /// A caller paused it; or the process was ended by SIGHUP, by SIGINT, or in order.
        case user, hangup, interrupt, terminate
        /// Its session was killed (kill -9, loss of power), and the download was found afterwards.
        case interrupted
    }

    /// The state without its data. Lists are filtered by it, and the store has an index of it.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// A state of this name.
        case queued, running, waiting, paused, completed, failed, cancelled

        /// Whether a session works on the download, or will.
        public var isActive: Bool { self == .queued || self == .running || self == .waiting }
        /// Whether the download has ended. It does not change any more unless it is requested again.
        public var isEnded: Bool { self == .completed || self == .failed || self == .cancelled }
        /// Whether the download is complete, so that `resume` has nothing to do.
        public var isCompleted: Bool { self == .completed }
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
        case .waiting(.schedule, _), .queued, .running, .paused, .completed, .cancelled: nil
        }
    }

    var waitsForNetwork: Bool {
        if case .waiting(.network, _) = self { true } else { false }
    }

    /// Returns whether the state may change to another kind. A completed download may be requested again; its file
    /// decides whether there is anything to do.
    package func canMove(to next: Kind) -> Bool {
        switch (kind, next) {
        case (.queued, .running), (.queued, .waiting), (.queued, .paused), (.queued, .cancelled), (.queued, .failed):
            true
        case (.running, .queued), (.running, .waiting), (.running, .paused), (.running, .completed),
            (.running, .failed), (.running, .cancelled):
            true
        case (.waiting, .queued), (.waiting, .running), (.waiting, .paused), (.waiting, .cancelled),
            (.waiting, .failed):
            true
        case (.paused, .queued), (.paused, .cancelled): true
        case (.failed, .queued), (.cancelled, .queued), (.completed, .queued): true
        case (.failed, .cancelled): true
        default: false
        }
    }
}
