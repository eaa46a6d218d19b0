import Foundation

/// Where a download stands. There is never a flag beside it.
public enum DownloadState: Codable, Sendable, Equatable {
    /// The download waits for its turn.
    case queued
    /// An attempt is under way.
    case running
    /// The download goes on by itself, at the latest at this time where one is known.
    case waiting(WaitReason, until: Date?)
    /// The download goes on when it is resumed.
    case paused(PauseReason)
    /// The file has its final name.
    case completed
    /// The download failed, and can be resumed.
    case failed(DownloadError)
    /// The download was cancelled, and can be resumed.
    case cancelled

    /// Why a download waits.
    public enum WaitReason: Codable, Sendable, Equatable {
        /// A transient failure; the next attempt follows.
        case retry(DownloadError)
        /// This machine has no way to the server; it goes on once there is one, which costs no attempt.
        case network(DownloadError)
        /// It is not to run now.
        case schedule
    }

    /// Who paused a download.
    public enum PauseReason: String, Codable, Sendable, CaseIterable {
        /// A caller; or the end of the process by SIGHUP, by SIGINT, or in order.
        case user, hangup, interrupt, terminate
        /// Its session ended without a word (kill -9, power loss) and the download was found afterwards.
        case interrupted
    }

    /// The state without its data: what lists filter by and the store indexes.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// A state of this name.
        case queued, running, waiting, paused, completed, failed, cancelled

        /// A session works on it, or will.
        public var isActive: Bool { self == .queued || self == .running || self == .waiting }
        /// Nothing happens to it any more unless it is asked for again.
        public var isEnded: Bool { self == .completed || self == .failed || self == .cancelled }
        /// `resume` has nothing to do.
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

    /// Why it failed, or is to be tried again.
    public var error: DownloadError? {
        switch self {
        case .failed(let error), .waiting(.retry(let error), _), .waiting(.network(let error), _): error
        case .waiting(.schedule, _), .queued, .running, .paused, .completed, .cancelled: nil
        }
    }

    var waitsForNetwork: Bool {
        if case .waiting(.network, _) = self { true } else { false }
    }

    /// The legal moves. A completed download may be asked for again; the file decides whether there is anything to do.
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
