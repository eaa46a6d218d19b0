import Foundation

/// When it will be done, from (time, bytes) as they are seen: counts down like a clock while the speed merely wavers, and
/// follows when it changes for good. Pure.
package struct TimeLeftMeter {
    /// A speed whose measurements fade: after `memory` seconds they count a third of what they did.
    private struct FadingSpeed {
        let memory: Double
        var bytes = 0.0
        var seconds = 0.0

        var speed: Double { seconds > 0 ? bytes / seconds : 0 }

        mutating func add(_ fetched: Double, in time: Double) {
            let fading = exp(-time / memory)
            bytes = bytes * fading + fetched
            seconds = seconds * fading + time
        }
    }

    /// Seconds; longer than a speed is averaged for itself, since time left multiplies its errors.
    private static let memory = 12.0
    private static let shortMemory = 4.0
    /// A speed of late that differs by this factor is a new one.
    private static let change = 1.5
    /// Seconds before anything is said.
    private static let minimum = 0.5
    /// What is said stays while it is wrong by no more than this part of what is left, or by a second.
    private static let tolerance = 0.1
    /// As long as something is missing, it is never said that no time is left.
    private static let shortest = 0.1

    /// Of the last measurement.
    private var time: Double?
    private var bytes: Int64 = 0
    private var average = FadingSpeed(memory: memory)
    private var recent = FadingSpeed(memory: shortMemory)
    /// The moment that is said.
    private var end: Double?

    package init() {}

    /// - Parameters:
    ///   - time: seconds, never running backwards.
    ///   - bytes: all there are; fewer than before (a restart) begin anew.
    ///   - remaining: nil while the size is unknown.
    package mutating func add(time: Double, bytes: Int64, remaining: Int64?) {
        if let last = self.time, bytes >= self.bytes {
            measure(Double(bytes) - Double(self.bytes), in: time - last)
        } else {
            self = Self()
        }
        (self.time, self.bytes) = (time, bytes)
        guard let remaining, remaining > 0, average.bytes > 0, average.seconds >= Self.minimum else {
            end = nil
            return
        }
        let left = Double(remaining) / average.speed
        let slack = max(1, left * Self.tolerance)
        end = min(max(end ?? time + left, time + left - slack), time + left + slack)
    }

    /// Nil until there is something to go by.
    package var left: Double? {
        guard let end, let time else { return nil }
        return max(Self.shortest, end - time)
    }

    private mutating func measure(_ fetched: Double, in seconds: Double) {
        average.add(fetched, in: seconds)
        recent.add(fetched, in: seconds)
        let (low, high) = (average.speed / Self.change, average.speed * Self.change)
        if (low...high).contains(recent.speed) { return }
        // What is recent holds some of the old speed, too: it counts little against what comes.
        (average.bytes, average.seconds) = (recent.bytes / Self.shortMemory, recent.seconds / Self.shortMemory)
    }
}
