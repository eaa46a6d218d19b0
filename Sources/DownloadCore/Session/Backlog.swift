import Synchronization

/// What several threads leave for one worker, which takes all of it at a time and is begun when none is at work.
final class Backlog<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var hasWorker = false
    }

    private let state = Mutex(State())

    /// - Returns: whether a worker is to be begun.
    func add(_ elements: [Element]) -> Bool {
        state.withLock { state in
            state.elements += elements
            defer { state.hasWorker = true }
            return !state.hasWorker
        }
    }

    /// For the worker: all that there is. Nothing means that it has no work any more.
    /// - Parameter goesOn: it has work of its own, and comes back.
    func take(goesOn: Bool = false) -> [Element] {
        state.withLock { state in
            defer { state.elements = [] }
            if state.elements.isEmpty { state.hasWorker = goesOn }
            return state.elements
        }
    }
}
