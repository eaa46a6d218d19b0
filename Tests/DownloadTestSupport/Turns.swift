import Synchronization

/// A semaphore for tasks. At most `count` tasks run at a time. Waiters are served in the order in which they came,
/// urgent ones before the others.
final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
        var urgent: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    /// Waits until a turn is free.
    func take(isUrgent: Bool = false) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                if isUrgent { state.urgent.append(continuation) } else { state.waiting.append(continuation) }
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.urgent.isEmpty { return state.urgent.removeFirst() }
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
