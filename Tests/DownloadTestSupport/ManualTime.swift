import Dispatch
import DownloadCore
import Foundation
import Synchronization

/// A clock that stands still until a test calls ``advance(by:)``, so that a wait of an hour takes no time.
///
/// With `leaps`, the clock follows the real time. When all work waits, it also leaps to the end of the earliest wait.
/// All work waits if every ``begin()`` has had its ``end()``, and no wait has begun or ended for some milliseconds.
package final class ManualTime: TimeSource {
    private struct Sleeper {
        let moment: ContinuousClock.Instant
        /// The number of the call. Waits with the same end are woken in the order in which they began.
        let number: Int
        let end: @Sendable (Result<Void, any Error>) -> Void
    }

    private struct State {
        /// How far the clock is ahead: of the real clock if it leaps, else of its start.
        var offset = Duration.zero
        /// The time of day when ``ManualTime/now`` was ``ManualTime/start``.
        var startDate: Date
        var sleepers: [Int: Sleeper] = [:]
        /// The calls of ``ManualTime/sleep(until:)`` that do not wait yet. A call that is missing here was cancelled.
        var beginning: Set<Int> = []
        /// The number of the latest wait.
        var lastNumber = 0
        var busy = 0
        /// How many times a wait has begun or ended.
        var changes = 0
        /// The value of ``changes`` at the last look. ``quietLooks`` counts the looks in a row that found the same
        /// value.
        var seen = 0
        var quietLooks = 0
        var isLooking = false
    }

    private let start = ContinuousClock.now
    private let leaps: Bool
    private let state: Mutex<State>
    private let sleeping = Observed(0)
    private let queue = DispatchQueue(label: "dlm.manual-time")

    /// The number of looks in a row without a change after which the clock leaps. The looks are a millisecond apart.
    private static let looksBeforeLeap = 5

    /// - Parameter date: the time of day at the beginning.
    package init(leaps: Bool = false, date: Date = Date()) {
        self.leaps = leaps
        state = Mutex(State(startDate: date))
    }

    // MARK: The clock

    package var now: ContinuousClock.Instant { state.withLock { now($0) } }

    package var date: Date {
        state.withLock { $0.startDate.addingTimeInterval((now($0) - start) / .seconds(1)) }
    }

    private func now(_ state: State) -> ContinuousClock.Instant {
        (leaps ? ContinuousClock.now : start) + state.offset
    }

    /// Sets the time of day, as a user or a time server does. Waits are not affected.
    package func put(_ date: Date) {
        state.withLock { $0.startDate = date.addingTimeInterval((start - now($0)) / .seconds(1)) }
    }

    /// Advances the clock, and wakes all waits that are over by then, in the order of their ends.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.offset += duration
            return takeDue(&state)
        }
        wake(due)
    }

    /// Waits until at least `count` tasks, threads and scheduled actions wait for this clock.
    /// - Returns: false if they do not within the limit, which is real time.
    package func sleepers(atLeast count: Int, atMost limit: Duration = .seconds(45)) async -> Bool {
        await sleeping.wait(atMost: limit) { $0 >= count }
    }

    /// Waits until something waits for exactly this moment.
    /// - Returns: false if nothing does within the limit, which is real time.
    package func sleeper(until moment: ContinuousClock.Instant, atMost limit: Duration = .seconds(45)) async -> Bool {
        await sleeping.wait(atMost: limit) { [self] _ in
            state.withLock { $0.sleepers.values.contains { $0.moment == moment } }
        }
    }

    /// How many tasks, threads and scheduled actions wait for this clock now.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Begins real work. With `leaps`, the clock does not leap until ``end()`` is called as often as this function.
    package func begin() { state.withLock { $0.busy += 1 } }

    package func end() { state.withLock { $0.busy -= 1 } }

    // MARK: Waiting

    package func sleep(until moment: ContinuousClock.Instant) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.lastNumber += 1
            state.beginning.insert(state.lastNumber)
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let sleeper = Sleeper(moment: moment, number: number) { continuation.resume(with: $0) }
                // The wait is registered in the same step as the removal, because a cancellation between two steps
                // would be lost.
                let news = state.withLock { state in
                    state.beginning.remove(number) == nil ? nil : insert(sleeper, &state)
                }
                guard let news else { return continuation.resume(throwing: CancellationError()) }
                tell(news)
            }
        } onCancel: {
            cancel(number)
        }
    }

    package func block(for duration: Duration) {
        let isOver = DispatchSemaphore(value: 0)
        add(after: duration) { isOver.signal() }
        isOver.wait()
    }

    package func schedule(after delay: Duration, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        add(after: delay) { queue.async(execute: action) }
    }

    private func add(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
        let (moment, number) = state.withLock { state in
            state.lastNumber += 1
            return (now(state) + delay, state.lastNumber)
        }
        add(Sleeper(moment: moment, number: number) { _ in action() })
    }

    private func add(_ sleeper: Sleeper) { tell(state.withLock { insert(sleeper, &$0) }) }

    private func insert(_ sleeper: Sleeper, _ state: inout State) -> (due: [Sleeper], beginsLooking: Bool) {
        state.sleepers[sleeper.number] = sleeper
        state.changes += 1
        let due = takeDue(&state)
        defer { if leaps { state.isLooking = true } }
        return (due, leaps && !state.isLooking)
    }

    private func tell(_ news: (due: [Sleeper], beginsLooking: Bool)) {
        wake(news.due)
        if news.beginsLooking { lookSoon(after: .milliseconds(1)) }
    }

    private func cancel(_ number: Int) {
        let sleeper = state.withLock { state -> Sleeper? in
            state.beginning.remove(number)
            guard let sleeper = state.sleepers.removeValue(forKey: number) else { return nil }
            state.changes += 1
            return sleeper
        }
        guard let sleeper else { return }
        count()
        sleeper.end(.failure(CancellationError()))
    }

    private func takeDue(_ state: inout State) -> [Sleeper] {
        let now = now(state)
        let due = state.sleepers.values.filter { $0.moment <= now }
        for sleeper in due { state.sleepers[sleeper.number] = nil }
        state.changes += due.count
        return due.sorted { ($0.moment, $0.number) < ($1.moment, $1.number) }
    }

    private func wake(_ due: [Sleeper]) {
        count()
        for sleeper in due { sleeper.end(.success(())) }
    }

    private func count() { sleeping.update { $0 = state.withLock { $0.sleepers.count } } }

    // MARK: Leaping

    /// Schedules the next look. The look runs in a task of low priority, so it waits while the threads of Swift's pool
    /// have work.
    private func lookSoon(after delay: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in
            Task(priority: .background) { [weak self] in self?.look() }
        }
    }

    private func look() {
        let (due, next) = state.withLock { state -> ([Sleeper], DispatchTimeInterval?) in
            guard let earliest = state.sleepers.values.map(\.moment).min() else {
                state.isLooking = false
                return ([], nil)
            }
            let isQuiet = state.busy == 0 && state.changes == state.seen
            state.seen = state.changes
            state.quietLooks = isQuiet ? state.quietLooks + 1 : 0
            if state.quietLooks >= Self.looksBeforeLeap {
                state.quietLooks = 0
                state.offset += max(.zero, earliest - now(state))
            }
            // Real work lasts longer than a millisecond, so the next look comes later.
            return (takeDue(&state), .milliseconds(state.busy == 0 ? 1 : 8))
        }
        if !due.isEmpty { wake(due) }
        if let next { lookSoon(after: next) }
    }
}
