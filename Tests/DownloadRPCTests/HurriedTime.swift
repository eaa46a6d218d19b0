import DownloadCore
import DownloadTestSupport
import Foundation

/// The system's clock, except for short waits. A short wait ends at once and advances the clock by its duration.
final class HurriedTime: TimeSource {
    private let system = SystemTime()
    private let passed = Observed(Duration.zero)
    private static let longest = Duration.seconds(2)

    /// The sum of all short waits and of all calls of ``advance(by:)`` so far.
    var waited: Duration { passed.value }

    var now: ContinuousClock.Instant { system.now + passed.value }
    var date: Date { system.date }

    func advance(by duration: Duration) { passed.update { $0 += duration } }

    func sleep(until moment: ContinuousClock.Instant) async throws {
        let left = moment - now
        guard left < Self.longest else { return try await system.sleep(until: moment - passed.value) }
        try Task.checkCancellation()
        if left > .zero { advance(by: left) }
    }

    func block(for duration: Duration) { system.block(for: duration) }

    func schedule(after delay: Duration, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        system.schedule(after: delay, on: queue, action)
    }
}
