import Foundation

/// A clock for reading the time and for waiting. Every part of dlm that needs the time gets a time source, so that
/// tests can replace the clock.
package protocol TimeSource: Sendable {
    /// A moment of a clock that never jumps and also counts the time while suspended (CLOCK_BOOTTIME,
    /// clock_gettime(2)).
    var now: ContinuousClock.Instant { get }
    /// The time of day. It jumps when the clock is set.
    var date: Date { get }
    /// Returns at this moment, or as soon as the task is cancelled.
    /// - Throws: `CancellationError`.
    func sleep(until moment: ContinuousClock.Instant) async throws
    /// Blocks the calling thread. Meant for code that has its own thread.
    func block(for duration: Duration)
    func schedule(after delay: Duration, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void)
}

extension Duration {
    /// Makes a duration from the seconds in a document, to the nanosecond, so that it is the same after it was written
    /// and read again. NaN becomes -1 second.
    package init(ofDocument number: Double) {
        let seconds = number.isNaN ? -1 : min(max(number, -Self.endless), Self.endless)
        let whole = seconds.rounded(.down)
        self = .seconds(Int64(whole)) + .nanoseconds(Int64(((seconds - whole) * 1e9).rounded()))
    }

    /// The duration in seconds, as in documents. From ``endless`` on it is infinite.
    package var inSeconds: Double {
        get {
            let seconds = Double(components.seconds)
            return seconds < Self.endless ? seconds + Double(components.attoseconds) / 1e18 : .infinity
        }
        set { self = Duration(ofDocument: newValue) }
    }

    /// The number of seconds that stands for infinity, which a duration cannot have.
    private static let endless = 1e15
}

extension Duration? {
    /// The duration in seconds, as in documents.
    package var inSeconds: Double? {
        get { self?.inSeconds }
        set { self = newValue.map { Duration(ofDocument: $0) } }
    }
}

extension TimeSource {
    package func sleep(for duration: Duration) async throws { try await self.sleep(until: now + duration) }
}
