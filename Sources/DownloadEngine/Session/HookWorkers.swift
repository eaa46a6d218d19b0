import DownloadCore
import DownloadSystem
import Synchronization

/// The workers that run the hooks of ended downloads: the hooks of this session, and the hooks that dead sessions did
/// not run.
final class HookWorkers: Sendable {
    private struct State {
        var workers: [Int: Task<Void, Never>] = [:]
        var lastWorker = 0
        /// The number of calls of ``look()``. A worker that finds no hook looks again if there was a call meanwhile.
        var calls = 0
        var isOver = false
    }

    /// The maximum number of programs that run at the same time.
    private static let atOnce = 4

    private let runner: (any HookRunner)?
    private let store: any DownloadStore
    private let session: String
    private let notice: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameter runner: The runner; nil if other sessions run the hooks.
    init(
        _ runner: (any HookRunner)?, store: any DownloadStore, session: String,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.runner = runner
        self.store = store
        self.session = session
        self.notice = notice
    }

    /// Makes a worker look for due hooks in the store. Starts a worker unless the maximum number is running.
    func look() {
        guard let runner else { return }
        state.withLock { state in
            if state.isOver { return }
            state.calls += 1
            guard state.workers.count < Self.atOnce else { return }
            state.lastWorker += 1
            let number = state.lastWorker
            state.workers[number] = Task { await self.run(runner, number) }
        }
    }

    private func run(_ runner: any HookRunner, _ number: Int) async {
        while true {
            let (calls, isOver) = state.withLock { ($0.calls, $0.isOver) }
            if isOver { break }
            do {
                FaultPoint.reached("beforeHookTaken")
                guard let hook = try await store.takeHook(session: session) else {
                    if end(number, unlessCalledSince: calls) { return }
                    continue
                }
                FaultPoint.reached("afterHookTaken")
                if let problem = await runner.run(hook) { notice("\(hook.record.id): \(problem)") }
            } catch {
                // The hook stays due.
                notice("hooks cannot be run now: \(error)")
                break
            }
        }
        end(number)
    }

    /// Ends a worker.
    /// - Returns: False if more hooks may be due by now, so that the worker must continue.
    @discardableResult
    private func end(_ number: Int, unlessCalledSince calls: Int? = nil) -> Bool {
        state.withLock { state in
            if let calls, calls != state.calls { return false }
            state.workers[number] = nil
            return true
        }
    }

    /// Waits until all workers have ended. A hook may still be due if the store failed or ``end()`` was called.
    func wait() async {
        while let worker = state.withLock({ $0.workers.values.first }) { await worker.value }
    }

    /// Ends the running programs, and starts no other programs. Due hooks stay in the store for the next session.
    func end() {
        state.withLock { state in
            state.isOver = true
            for worker in state.workers.values { worker.cancel() }
        }
    }
}
