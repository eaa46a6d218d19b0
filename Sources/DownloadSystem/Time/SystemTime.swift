import DownloadCore
import Foundation

/// The clocks of the system. No other file may name these clocks, which `Tests/ArchitectureTests` checks.
package struct SystemTime: TimeSource {
    package init() {}

    package var now: ContinuousClock.Instant { ContinuousClock.now }

    package var date: Date { Date() }

    package func sleep(until moment: ContinuousClock.Instant) async throws {
        try await Task.sleep(until: moment, clock: .continuous)
    }

    package func block(for duration: Duration) {
        Thread.sleep(forTimeInterval: duration / .seconds(1))
    }

    package func schedule(after delay: Duration, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: action)
    }
}
