import Synchronization

/// A semaphore for tasks: at most `count` turns are taken at a time, and waiters are served in the order in which they came.
final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Takes out of the queue the waiters whose turn it is now.
        mutating func next() -> [CheckedContinuation<Void, Never>] {
            var called: [CheckedContinuation<Void, Never>] = []
            while let first = waiting.first, first.count <= free {
                free -= first.count
                called.append(waiting.removeFirst().continuation)
            }
            return called
        }
    }

    let count: Int
    private let state: Mutex<State>

    init(_ count: Int) {
        self.count = count
        state = Mutex(State(free: count))
    }

    /// Waits until so many of them are free.
    func take(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let called = state.withLock { state in
                state.waiting.append((count, continuation))
                return state.next()
            }
            for continuation in called { continuation.resume() }
        }
    }

    func giveBack(_ count: Int = 1) {
        let called = state.withLock { state in
            state.free += count
            return state.next()
        }
        for continuation in called { continuation.resume() }
    }
}
