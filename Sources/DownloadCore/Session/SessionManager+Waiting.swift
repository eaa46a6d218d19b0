import Foundation

/// Between a failed attempt and the next one.
extension SessionManager {
    func failed(
        _ ended: DownloadRecord, _ error: DownloadError, _ retryAfter: ServerPause?, isRenewed: Bool = false
    ) async {
        var record = ended
        let origin = record.source.origin
        if let retryAfter, retryAfter.isForOrigin, retryAfter.origin == origin {
            scheduler.hold(origin, until: parts.time.now + .seconds(retryAfter.seconds))
            recallReady()
        }
        let progressed = (record.attempts.last?.received ?? 0) >= RetryPolicy.progressThatForgets
        let failures = progressed ? 0 : entries[record.id]?.failures ?? 0
        guard record.request.mayBeSentAgain(after: error) else { return await give(up: record, error) }
        if let free = freeAttempt(of: record, after: error) {
            return await hold(record, error, until: free, failures: failures)
        }
        if isRenewed, failures < record.request.retry.limit {
            return await hold(record, error, until: .retry(after: 0), failures: failures + 1)
        }
        let turn = record.turn(after: error, repeats: record.request.retry.repeats(error))
        guard case .retry(let delay) = turn.decide(record.request, error, failures, retryAfter) else {
            return await give(up: record, error)
        }
        if let deadline = entries[record.id]?.deadline, parts.time.now + .seconds(delay) >= deadline {
            return await give(up: record, .overdue(record.request, last: error))
        }
        await hold(record, error, until: .retry(after: delay), failures: turn == .next ? failures : failures + 1)
    }

    /// Why another attempt follows a failure.
    enum Pending: Equatable {
        case retry(after: Double)
        /// The network comes back.
        case network
    }

    /// Nil: it is a retry like any other. Who wants no retries hears of every failure.
    private func freeAttempt(of record: DownloadRecord, after error: DownloadError) -> Pending? {
        guard case .networkFailed(let failure, _) = error, record.request.retry.limit > 0,
            failure != .timeLimit
        else { return nil }
        if NetworkOutage.isDown(NetworkPath(record), parts.network) { return .network }
        return failure == .networkChanged ? .retry(after: 0) : nil
    }

    private func hold(_ ended: DownloadRecord, _ error: DownloadError, until next: Pending, failures: Int) async {
        var record = ended
        if let reason = stopReason ?? (isFinishing ? .terminate : nil) { return await pause(record, reason) }
        let delay: Double
        switch next {
        case .retry(let seconds):
            delay = seconds
            record.move(to: .waiting(.retry(error), until: parts.time.date.addingTimeInterval(delay)))
        case .network:
            // Until somebody wakes it, or its time is over: then the attempt that follows says so.
            delay = entries[record.id]?.deadline.map { ($0 - parts.time.now) / .seconds(1) } ?? Self.noEnd
            record.move(to: .waiting(.network(error), until: nil))
        }
        record = await save(record)
        if let failure = record.failure {
            leave(record)
            return broadcaster.send(.didFail(DownloadSnapshot(record: record), failure))
        }
        wait(record, failures: failures, delay: max(0, delay))
        broadcaster.send(.willRetry(DownloadSnapshot(record: record), error))
    }

    /// In seconds.
    private static let noEnd = 1e9

    func give(up ended: DownloadRecord, _ error: DownloadError) async {
        var record = ended
        record.move(to: .failed(error))
        record.leaveForeground()
        record = await save(record)
        leave(record)
        broadcaster.send(.didFail(DownloadSnapshot(record: record), error))
    }

    private func wait(_ record: DownloadRecord, failures: Int, delay: Double) {
        let control = RunnerControl(record: record)
        let task = Task { [weak self, time = parts.time] in
            try? await time.sleep(for: .seconds(delay))
            await self?.waited(record.id, failures: failures)
        }
        // What was asked for while the failure was being noted stands, and who asked waits for it.
        let wish = entries[record.id]?.wish ?? (isFinishing ? .pause(.terminate) : nil)
        if entries[record.id]?.isFinishing == true { finishing -= 1 }
        entries[record.id] = Entry(
            record: record, control: control, task: task, failures: failures, wish: wish,
            deadline: entries[record.id]?.deadline)
        scheduler.waits(record.id, for: record.source.origin)
        if stopReason != nil || wish != nil { task.cancel() } else { attemptIsOver(record) }
    }

    /// The delay is over, or was cut short by the end of the session.
    private func waited(_ id: DownloadID, failures: Int) async {
        var last: Task<DownloadRecord, Never>?
        while let change = saves[id], change != last {
            _ = await change.value
            last = change
        }
        guard let entry = entries[id], entry.record.state.kind == .waiting else { return }
        if let wish = entry.wish { return await stopped(entry.record, wish) }
        if let stopReason { return await pause(entry.record, stopReason) }
        var record = entry.record
        record.move(to: .queued)
        entries[id] = nil
        scheduler.doesNotWait(id)
        retries[id] = failures
        timeLeft[id] = entry.deadline.map { $0 - parts.time.now }
        attemptIsOver(record)
        offer(record)
        await fill()
    }
}
