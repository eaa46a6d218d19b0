import Synchronization

/// A list of elements that several threads fill and one worker empties. The worker takes all elements at once. A caller
/// starts a worker if none is running.
final class Backlog<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var hasWorker = false
    }

    private let state = Mutex(State())

    /// Adds elements.
    /// - Returns: Whether the caller must start a worker.
    func add(_ elements: [Element]) -> Bool {
        state.withLock { state in
            state.elements += elements
            defer { state.hasWorker = true }
            return !state.hasWorker
        }
    }

    /// Takes all elements. Called by the worker. If there are none, the worker counts as ended.
    /// - Parameter goesOn: Whether the worker has other work and will call again, so that it does not count as ended.
    func take(goesOn: Bool = false) -> [Element] {
        state.withLock { state in
            defer { state.elements = [] }
            if state.elements.isEmpty { state.hasWorker = goesOn }
            return state.elements
        }
    }
}
