import Synchronization

/// A value that threads change and tests wait for, so that no test has to sleep for an uncertain time.
package final class Observed<Value: Sendable>: Sendable {
    private struct Waiter {
        let isMet: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
        var timer: Task<Void, Never>?
    }

    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private let state: Mutex<State>

    package init(_ value: Value) { state = Mutex(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, and wakes the waiters whose condition is true now.
    @discardableResult
    package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, met) = state.withLock { state in
            let result = change(&state.value)
            let ids = state.waiters.filter { $0.value.isMet(state.value) }.keys
            return (result, ids.compactMap { state.waiters.removeValue(forKey: $0) })
        }
        for waiter in met {
            waiter.timer?.cancel()
            waiter.continuation.resume(returning: true)
        }
        return result
    }

    /// Waits until the condition is true. Returns false if the limit passes before.
    package func wait(
        atMost limit: Duration = .seconds(45), until isMet: @escaping @Sendable (Value) -> Bool
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let id = state.withLock { state -> Int? in
                if isMet(state.value) { return nil }
                state.nextWaiter += 1
                state.waiters[state.nextWaiter] = Waiter(isMet: isMet, continuation: continuation)
                return state.nextWaiter
            }
            guard let id else { return continuation.resume(returning: true) }
            let timer = Task {
                do { try await Task.sleep(for: limit) } catch { return }
                let late = self.state.withLock { $0.waiters.removeValue(forKey: id) }
                late?.continuation.resume(returning: false)
            }
            state.withLock { $0.waiters[id]?.timer = timer }
        }
    }
}
