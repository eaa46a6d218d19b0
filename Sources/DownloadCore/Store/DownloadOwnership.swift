import Foundation

/// Who may work on a recorded download: one rule for every store. Lives as long as one question to the store, for it
/// asks after each session only once.
package struct DownloadOwnership {
    package let session: String
    private let isAlive: (String) -> Bool
    private var answers: [String: Bool] = [:]

    /// - Parameters:
    ///   - session: the one that asks.
    ///   - isAlive: whether another session's process lives.
    package init(session: String, isAlive: @escaping (String) -> Bool) {
        self.session = session
        self.isAlive = isAlive
    }

    package enum Standing: Equatable {
        /// A live session is at it.
        case busy
        /// Whoever asks may take it.
        case free
    }

    /// A live session keeps what it works on and what it holds paused; of the asking session only the former is busy.
    package mutating func standing(of state: DownloadState.Kind, owner: String?) -> Standing {
        guard let owner else { return .free }
        if owner == session { return state.isActive ? .busy : .free }
        guard state.isActive || state == .paused else { return .free }
        return lives(owner) ? .busy : .free
    }

    /// The live session, other than the one that asks, that a removal would pull the download from.
    package mutating func foreignHolder(of state: DownloadState.Kind, owner: String?) -> String? {
        owner == session || standing(of: state, owner: owner) == .free ? nil : owner
    }

    /// No process runs this session.
    package mutating func isDead(_ other: String) -> Bool { other != session && !lives(other) }

    private mutating func lives(_ owner: String) -> Bool {
        if let known = answers[owner] { return known }
        let answer = isAlive(owner)
        answers[owner] = answer
        return answer
    }
}

extension DownloadRecord {
    /// As it is added to `session`: queued, or held back.
    package init(adding request: DownloadRequest, id: DownloadID, to session: String, at now: Date) {
        self.init(
            id: id, request: request, state: request.startsPaused ? .paused(.user) : .queued, created: now)
        self.session = session
    }

    /// Hands it to `session`, with all it has. What was complete begins another history: asked for every night, it would
    /// grow and grow.
    package mutating func queue(for session: String, at now: Date, holdsBack: Bool = false) {
        if state == .completed { attempts = [] }
        state = holdsBack ? .paused(.user) : .queued
        self.session = session
        speed = nil
        updated = now
    }

    /// Its session is gone. A background one comes back, and finds it again.
    package mutating func interrupt(at now: Date) {
        state = .paused(.interrupted)
        leaveForeground()
        speed = nil
        updated = now
    }
}

extension DownloadRecord {
    /// No session works on it now; of a background session it remains.
    package mutating func leaveForeground() {
        if let session, SessionIdentifier.isForeground(session) { self.session = nil }
    }

    /// A background session's, dead or alive: it waits for it.
    package var belongsToBackground: Bool { session.map { !SessionIdentifier.isForeground($0) } ?? false }

    /// Makes the change as `asker` wants it. A foreground session holds what it was told to pause, so that it may go
    /// on there; whatever else stops is free.
    /// - Returns: false when there is nothing to do.
    package mutating func apply(_ change: DownloadChange, for asker: String, at now: Date) -> Bool {
        guard apply(change) else { return false }
        switch change {
        case .pause where session == asker: break
        case .pause, .cancel: leaveForeground()
        case .priority, .rateLimit, .url: break
        }
        updated = now
        return true
    }
}

extension DownloadState {
    /// Left so by a session's death or end, not by the user: it goes on when its session comes back.
    package var goesOnAlone: Bool {
        switch self {
        case .running, .waiting: true
        case .paused(let reason): reason != .user
        case .queued, .completed, .failed, .cancelled: false
        }
    }
}

extension Sequence where Element: Hashable {
    /// Each one once, where it came first.
    package var firstOccurrences: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
