import CSystem
import Foundation

/// Tells the time, and waits for it. Everything in dlm that looks at a clock is given one, so that a test can turn it.
package protocol TimeSource: Sendable {
    /// A moment of a clock that never steps and counts suspend, too (CLOCK_BOOTTIME, clock_gettime(2)).
    var now: ContinuousClock.Instant { get }
    /// The time of day; it steps when the clock is set.
    var date: Date { get }
    /// Returns at this moment, or as soon as the task is cancelled.
    /// - Throws: `CancellationError`.
    func sleep(until moment: ContinuousClock.Instant) async throws
    /// Blocks the calling thread: for code that has a thread of its own.
    func block(for duration: Duration)
    /// Does something on the queue once so much time has passed.
    func schedule(after delay: Duration, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void)
}

extension TimeSource {
    package func sleep(for duration: Duration) async throws { try await sleep(until: now + duration) }
}

/// The clocks of the system. This file alone names them; `Tests/ArchitectureTests` reads all others for it.
package struct SystemTime: TimeSource {
    package init() {}

    package var now: ContinuousClock.Instant { ContinuousClock.now }

    package var date: Date { Date() }

    package func sleep(until moment: ContinuousClock.Instant) async throws {
        try await Task.sleep(until: moment, clock: .continuous)
    }

    package func block(for duration: Duration) {
        var left = timespec(
            tv_sec: Int(duration.components.seconds),
            tv_nsec: Int(duration.components.attoseconds / 1_000_000_000))
        var rest = timespec()
        while nanosleep(&left, &rest) == -1, errno == EINTR { left = rest }
    }

    package func schedule(after delay: Duration, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: action)
    }
}
