import DownloadCore
import DownloadSystem
import Foundation

/// The system's clock, except for short waits. A short wait ends at once and advances the clock by its duration.
package final class HurriedTime: TimeSource {
    private let system = SystemTime()
    private let passed = Observed(Duration.zero)
    private static let longest = Duration.seconds(2)

    package init() {}

    /// The sum of all short waits and of all calls of ``advance(by:)`` so far.
    package var waited: Duration { passed.value }

    package var now: ContinuousClock.Instant { system.now + passed.value }
    package var date: Date { system.date }

    package func advance(by duration: Duration) { passed.update { $0 += duration } }

    package func sleep(until moment: ContinuousClock.Instant) async throws {
        let left = moment - now
        guard left <= Self.longest else { return try await system.sleep(until: moment - passed.value) }
        try Task.checkCancellation()
        if left > .zero { advance(by: left) }
    }

    package func block(for duration: Duration) { system.block(for: duration) }

    package func schedule(after delay: Duration, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        system.schedule(after: delay, on: queue, action)
    }
}
