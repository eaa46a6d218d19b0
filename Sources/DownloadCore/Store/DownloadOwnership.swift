import Foundation

/// The rule, for every store, that says which session may work on a recorded download. A value is made for each call of
/// the store, because it checks only once whether a session is alive.
package struct DownloadOwnership {
    package let session: String
    private let isAlive: (String) -> Bool
    private var answers: [String: Bool] = [:]

    /// Makes the rule for one call of the store.
    /// - Parameters:
    ///   - session: The session that asks.
    ///   - isAlive: Returns whether another session's process is alive.
    package init(session: String, isAlive: @escaping (String) -> Bool) {
        self.session = session
        self.isAlive = isAlive
    }

    package enum Standing: Equatable {
        /// A live session works on the download.
        case busy
        /// The asking session may take the download.
        case free
    }

    /// Returns whether the download is busy. A live session keeps the downloads that it works on or has paused. If the
    /// owner is the asking session itself, only active downloads are busy.
    package mutating func standing(of state: DownloadState.Kind, owner: String?) -> Standing {
        guard let owner else { return .free }
        if owner == session { return state.isActive ? .busy : .free }
        guard state.isActive || state == .paused else { return .free }
        return lives(owner) ? .busy : .free
    }

    /// Returns the live session, other than the asking one, from which a removal would take the download.
    package mutating func foreignHolder(of state: DownloadState.Kind, owner: String?) -> String? {
        owner == session || standing(of: state, owner: owner) == .free ? nil : owner
    }

    /// Returns whether no process runs this session.
    package mutating func isDead(_ other: String) -> Bool { other != session && !lives(other) }

    private mutating func lives(_ owner: String) -> Bool {
        if let known = answers[owner] { return known }
        let answer = isAlive(owner)
        answers[owner] = answer
        return answer
    }
}

extension DownloadRecord {
    /// Makes the record of a download that is added to `session`, queued or paused.
    package init(adding request: DownloadRequest, id: DownloadID, to session: String, at now: Date) {
        self.init(
            id: id, request: request, state: request.startsPaused ? .paused(.user) : .queued, created: now)
        self.session = session
    }

    /// Gives the download to `session`, with all its data. A completed download begins a new history of attempts.
    package mutating func queue(for session: String, at now: Date, holdsBack: Bool = false) {
        if state == .completed { attempts = [] }
        state = holdsBack ? .paused(.user) : .queued
        self.session = session
        speed = nil
        updated = now
    }

    /// Records that the session of the download is gone. If it was a background session, the download still belongs to
    /// it, because the session will be started again.
    package mutating func interrupt(at now: Date) {
        state = .paused(.interrupted)
        leaveForeground()
        speed = nil
        updated = now
    }
}

extension DownloadRecord {
    /// Removes a foreground session from a download that no session works on. A background session stays recorded.
    package mutating func leaveForeground() {
        if let session, SessionIdentifier.isForeground(session) { self.session = nil }
    }

    /// Whether the download belongs to a background session, dead or alive, and waits for that session.
    package var belongsToBackground: Bool { session.map { !SessionIdentifier.isForeground($0) } ?? false }

    /// Applies the change that `asker` requests. A foreground session keeps a download that it has paused on command,
    /// so that it can be resumed there. Any other stopped download loses its foreground session, so that any session
    /// may take it.
    /// - Returns: False if the change makes no difference.
    package mutating func apply(_ change: DownloadChange, for asker: String, at now: Date) -> Bool {
        guard apply(change) else { return false }
        switch change {
        case .pause where session == asker: break
        case .pause, .cancel: leaveForeground()
        case .priority, .rateLimit, .url, .mirrors: break
        }
        updated = now
        return true
    }
}

extension DownloadState {
    /// Whether the download was left in this state by the death or end of a session, not by the user. It continues when
    /// its session comes back.
    package var goesOnAlone: Bool {
        switch self {
        case .running, .waiting: true
        case .paused(let reason): reason != .user
        case .queued, .completed, .failed, .cancelled: false
        }
    }
}

extension Sequence where Element: Hashable {
    /// The elements without repetitions, in the order of their first occurrences.
    package var firstOccurrences: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
