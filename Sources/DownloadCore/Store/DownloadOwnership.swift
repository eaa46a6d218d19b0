import Foundation

/// The rule, for every store, that says which session may work on a recorded download. Each call of the store makes a
/// new value, because a value remembers which sessions are alive and does not check them again.
package struct DownloadOwnership {
    package let session: String
    private let isAlive: (String) -> Bool
    private var answers: [String: Bool] = [:]

    /// - Parameters:
    ///   - session: The session that asks.
    ///   - isAlive: Returns whether another session's process is alive.
    package init(session: String, isAlive: @escaping (String) -> Bool) {
        self.session = session
        self.isAlive = isAlive
    }

    /// Returns whether the asking session may take the download. A live session keeps the downloads that it works on or
    /// has paused. If the owner is the asking session itself, it keeps only active downloads.
    package mutating func isFree(_ state: DownloadState.Kind, owner: String?) -> Bool {
        guard let owner else { return true }
        return owner == session ? !state.isActive : foreignHolder(of: state, owner: owner) == nil
    }

    /// Returns the live session, other than the asking one, from which a removal or a change would take the download.
    package mutating func foreignHolder(of state: DownloadState.Kind, owner: String?) -> String? {
        guard let owner, owner != session, state.isActive || state == .paused else { return nil }
        return lives(owner) ? owner : nil
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

extension DownloadState {
    /// Whether the download was left in this state by the death or end of a session, not by the user. The download
    /// continues when its session comes back.
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

extension Array {
    /// Returns the elements in arrays of at most `size`.
    package func parts(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
