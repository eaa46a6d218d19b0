import DownloadCore
import Synchronization

/// The small files that may begin next, and those that have begun. When a file has come, the next file of its origin
/// begins in its slot, on the thread of the engine. The session's book has no places for these files before somebody
/// looks at them (``enter(onlyTransferring:)``), because places cost too much (docs/internals/small-files.md).
final class SmallFileQueue: Sendable {
    /// A change of slots that the book does not know yet.
    enum News: Sendable {
        /// The bytes of a file that the book knows have come, and another file has begun in its slot.
        case passed(DownloadID, to: Scheduler.Slot)
        case freed(Scheduler.Slot)
    }

    struct Begun: Sendable {
        let attempt: SmallFileAttempt
        /// The slot of the file; nil after its bytes have come.
        var slot: Scheduler.Slot?
        /// Whether the book has a place for the file.
        var isEntered = false
    }

    private struct State {
        /// The files that have not begun. They are in a slice, because the first ones are taken often.
        var waiting: ArraySlice<SmallFileAttempt> = []
        var begun: [DownloadID: Begun] = [:]
        /// Whether the book may have no place for some of these files.
        var hasUnknown = false
        var lastSlot: Scheduler.Slot = 0
        var news: [News] = []
        /// The number of waiting files below which the session is asked for more.
        var low = 0
        var isTold = false

        /// Returns a new number for a slot. It is negative, so that it is not the id of a download.
        mutating func makeSlot() -> Scheduler.Slot {
            lastSlot = lastSlot.advanced(by: -1)
            return lastSlot
        }

        mutating func begin(_ attempt: SmallFileAttempt, _ slot: Scheduler.Slot) {
            attempt.attend()
            begun[attempt.id] = Begun(attempt: attempt, slot: slot)
            hasUnknown = true
        }

        mutating func takeNews() -> [News] {
            isTold = false
            defer { news = [] }
            return news
        }
    }

    private let state = Mutex(State())
    static let most = 64

    // MARK: Waiting

    var count: Int { state.withLock { $0.waiting.count } }

    /// Whether more files should be added. They are added in groups, because each addition costs time on the session's
    /// actor.
    var isLow: Bool { count <= Self.most / 2 }

    var first: DownloadEntry? { state.withLock { $0.waiting.first?.entry } }

    /// Adds the next files, in order.
    /// - Parameter areAll: Whether no others follow for now.
    func add(_ files: [SmallFileAttempt], areAll: Bool) {
        state.withLock { state in
            state.waiting += files
            state.low = areAll ? 0 : state.waiting.count / 2
        }
    }

    /// Takes back all files that have not begun, so that none of them begins here.
    func takeBack() -> [DownloadEntry] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting.map(\.entry)
        }
    }

    /// Leaves out the entries of files that are here.
    func withoutKnown(_ entries: [DownloadEntry]) -> [DownloadEntry] {
        state.withLock { state in
            if state.begun.isEmpty, state.waiting.isEmpty { return entries }
            let waiting = Set(state.waiting.map(\.entry.id))
            return entries.filter { state.begun[$0.id] == nil && !waiting.contains($0.id) }
        }
    }

    // MARK: Beginning

    /// Returns the slot for an attempt. The caller takes the slot and then begins the transfer.
    func begin(_ attempt: SmallFileAttempt) -> Scheduler.Slot {
        state.withLock { state in
            let slot = state.makeSlot()
            state.begin(attempt, slot)
            return slot
        }
    }

    func beginFirst() -> (attempt: SmallFileAttempt, slot: Scheduler.Slot)? {
        state.withLock { $0.waiting.popFirst() }.map { ($0, begin($0)) }
    }

    /// Passes the slot of a file that has come to the next file, unless too many finished files wait already.
    /// - Returns: Whether the caller must report the changes to the session.
    func passOn(the attempt: SmallFileAttempt, isFull: Bool) -> Bool {
        let (next, tells) = state.withLock { state -> (SmallFileAttempt?, Bool) in
            guard let index = state.begun.index(forKey: attempt.id), let slot = state.begun.values[index].slot else {
                return (nil, false)
            }
            state.begun.values[index].slot = nil
            let follows = !isFull && state.waiting.first?.entry.origin == attempt.entry.origin
            let next = follows ? state.waiting.popFirst() : nil
            if let next, state.begun.values[index].isEntered {
                let own = state.makeSlot()
                state.begin(next, own)
                state.news.append(.passed(attempt.id, to: own))
            } else if let next {
                state.begin(next, slot)
            } else {
                state.news.append(.freed(slot))
            }
            let tells = !state.isTold && (next == nil || state.waiting.count < state.low)
            if tells { state.isTold = true }
            return (next, tells)
        }
        next?.begin()
        return tells
    }

    // MARK: For the book

    func takeNews() -> [News] { state.withLock { $0.takeNews() } }

    /// Returns the files that have begun and that the book does not know, each once. The book knows them from now on,
    /// and the id of a file is then the number of its slot. The caller handles the news first.
    /// - Parameter onlyTransferring: Whether files whose bytes have come are left out.
    func enter(onlyTransferring: Bool = false) -> (news: [News], files: [Begun]) {
        state.withLock { state in
            if !state.hasUnknown { return (state.takeNews(), []) }
            let files = state.begun.values.filter { !$0.isEntered && (!onlyTransferring || $0.slot != nil) }
            if !onlyTransferring { state.hasUnknown = false }
            for file in files {
                let id = file.attempt.id
                state.begun[id]?.isEntered = true
                if file.slot != nil { state.begun[id]?.slot = id }
            }
            return (state.takeNews(), files)
        }
    }

    /// Removes files that have ended, or that go on as ordinary attempts.
    /// - Returns: Those that the book knows.
    func remove(_ ids: some Sequence<DownloadID>) -> Set<DownloadID> {
        state.withLock { state in
            Set(ids.filter { state.begun.removeValue(forKey: $0)?.isEntered == true })
        }
    }
}
