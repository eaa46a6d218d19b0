import DownloadCore
import Synchronization

/// The next small files, all from one origin. When one file has come, the next file begins in its slot, on the thread
/// of the engine. Asking the session about each file would cost as much as the transfer of the file.
final class ReadyFiles: Sendable {
    /// A change of slots that the session does not know yet.
    enum News: Sendable {
        case passed(DownloadID, to: DownloadID)
        case freed(DownloadID)
    }

    private struct State {
        var files: [SmallFileAttempt] = []
        /// The index of the first file that has not begun.
        var next = 0
        var news: [News] = []
        /// The number of remaining files below which the session is asked for more.
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

    /// Whether more files should be added. They are added in groups, because each addition costs time on the session's
    /// actor.
    var isLow: Bool { count <= Self.most / 2 }

    var first: SmallFileAttempt? { state.withLock { $0.next < $0.files.count ? $0.files[$0.next] : nil } }

    /// Takes the first file. The caller gives it a slot of its own.
    func takeFirst() -> SmallFileAttempt? { state.withLock { $0.take() } }

    /// Adds the next files, in order.
    /// - Parameter areAll: Whether no others follow for now.
    func add(_ files: [SmallFileAttempt], areAll: Bool) {
        state.withLock { state in
            state.files.removeFirst(state.next)
            state.next = 0
            state.files += files
            state.low = areAll ? 0 : state.files.count / 2
        }
    }

    /// Passes the slot of a file that has come to the next file, unless too many finished files wait already.
    /// - Returns: Whether the caller must report the changes to the session.
    func passOn(the attempt: SmallFileAttempt, isFull: Bool) -> Bool {
        var last = attempt
        while true {
            // The change is recorded before the next file begins, because another thread may record the end of that
            // file.
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

    /// Takes back all files that have not begun, so that none of them begins here.
    func takeBack() -> [SmallFileAttempt] {
        state.withLock { state in
            defer { (state.files, state.next) = ([], 0) }
            return Array(state.files[state.next...])
        }
    }
}
