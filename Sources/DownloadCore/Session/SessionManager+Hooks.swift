import Foundation

/// Runs what is to be run when downloads have ended: their own, and what sessions that died have left.
extension SessionManager {
    /// Which programs run, and whether something may be due.
    struct HookBook {
        var workers: [Int: Task<Void, Never>] = [:]
        var lastWorker = 0
        /// Counts the calls that something is due: a worker that finds nothing looks again where there was one meanwhile.
        var calls = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Programs that run at the same time.
    private static let hooksAtOnce = 4

    /// Something may be due in the store.
    func lookForHooks() {
        guard let runner = parts.hooks, stopReason == nil else { return }
        hooks.calls += 1
        guard hooks.workers.count < Self.hooksAtOnce else { return }
        hooks.lastWorker += 1
        let number = hooks.lastWorker
        hooks.workers[number] = Task {
            await self.runHooks(runner)
            self.hookWorkerEnded(number)
        }
    }

    private func runHooks(_ runner: any HookRunner) async {
        while stopReason == nil {
            let calls = hooks.calls
            do {
                FaultPoint.reached("beforeHookTaken")
                guard let hook = try await store.takeHook(session: identifier) else {
                    if calls == hooks.calls { return }
                    continue
                }
                FaultPoint.reached("afterHookTaken")
                if let problem = await runner.run(hook) {
                    parts.notice("\(hook.record.id): \(hook.program): \(problem)")
                }
            } catch {
                // It stays due.
                return parts.notice("hooks cannot be run now: \(error)")
            }
        }
    }

    private func hookWorkerEnded(_ number: Int) {
        hooks.workers[number] = nil
        guard hooks.workers.isEmpty else { return }
        for waiter in hooks.waiters { waiter.resume() }
        hooks.waiters = []
    }

    /// Returns once no program runs and none is due.
    func waitForHooks() async {
        if !hooks.workers.isEmpty { await withCheckedContinuation { hooks.waiters.append($0) } }
    }

    /// Ends the programs that run; what is due stays so, for the next session.
    func endHooks() {
        for worker in hooks.workers.values { worker.cancel() }
    }
}
