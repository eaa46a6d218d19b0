import Synchronization

/// The small files whose turn comes next, all of one origin: when one has come, the next one begins in its slot, on the
/// engine's thread. To ask the session about each would cost as much as its transfer.
final class ReadyFiles: Sendable {
    /// What the session does not know yet, in order.
    enum News: Sendable {
        case passed(DownloadID, to: DownloadID)
        case freed(DownloadID)
    }

    private struct State {
        var files: [SmallFileAttempt] = []
        /// Of the first that is left.
        var next = 0
        var news: [News] = []
        /// With so few left the session is told.
        var low = 0
        var isTold = false

        mutating func take(of origin: String? = nil) -> SmallFileAttempt? {
            guard next < files.count, origin == nil || origin == files[next].origin else { return nil }
            defer { next += 1 }
            return files[next]
        }
    }

    private let state = Mutex(State())
    static let most = 64

    var count: Int { state.withLock { $0.files.count - $0.next } }

    /// More are to be added, in groups: each costs the session a turn.
    var isLow: Bool { count <= Self.most / 2 }

    var first: SmallFileAttempt? { state.withLock { $0.next < $0.files.count ? $0.files[$0.next] : nil } }

    /// It has, or is given, a slot of its own.
    func takeFirst() -> SmallFileAttempt? { state.withLock { $0.take() } }

    /// The next ones, in order.
    /// - Parameter areAll: no others are to follow for now.
    func add(_ files: [SmallFileAttempt], areAll: Bool) {
        state.withLock { state in
            state.files.removeFirst(state.next)
            state.next = 0
            state.files += files
            state.low = areAll ? 0 : state.files.count / 2
        }
    }

    /// A file has come: the next one begins in its place, unless what has come is too much already.
    /// - Returns: whether the session is to be told that there are news.
    func passOn(the attempt: SmallFileAttempt, isFull: Bool) -> Bool {
        var last = attempt
        while true {
            // Noted before it begins: its end may be noted by another thread.
            let (next, tells) = state.withLock { state -> (SmallFileAttempt?, Bool) in
                let next = isFull ? nil : state.take(of: attempt.origin)
                state.news.append(next.map { .passed(last.id, to: $0.id) } ?? .freed(last.id))
                let tells = !state.isTold && (next == nil || state.files.count - state.next < state.low)
                if tells { state.isTold = true }
                return (next, tells)
            }
            guard let next, !next.begin() else { return tells }
            last = next
        }
    }

    func takeNews() -> [News] {
        state.withLock { state in
            state.isTold = false
            defer { state.news = [] }
            return state.news
        }
    }

    /// None of them begins any more.
    func takeBack() -> [SmallFileAttempt] {
        state.withLock { state in
            defer { (state.files, state.next) = ([], 0) }
            return Array(state.files[state.next...])
        }
    }
}
