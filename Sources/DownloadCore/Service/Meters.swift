import Foundation

/// Measures the speed over the last seconds, from samples of time and bytes.
package struct SpeedMeter {
    private struct Sample {
        let time: Double
        let bytes: Int64
    }

    /// The time over which the speed is measured, in seconds.
    package static let window = 4.0
    /// The minimum time over which a speed is measured, in seconds.
    package static let minimum = 0.25

    private var samples: [Sample] = []

    package init() {}

    /// - Parameters:
    ///   - time: the time of the sample, in seconds of a monotonic clock.
    ///   - bytes: the number of all bytes so far. After a smaller number (a restart), the measurement begins again.
    package mutating func add(time: Double, bytes: Int64) {
        if let last = samples.last, bytes < last.bytes { samples = [] }
        samples.append(Sample(time: time, bytes: bytes))
        // One sample at or before the beginning of the window stays, so that the whole window is covered.
        while samples.count > 2, samples[1].time <= time - Self.window { samples.removeFirst() }
    }

    /// The speed in bytes per second; nil until there are enough samples.
    package var speed: Double? {
        guard let first = samples.first, let last = samples.last, last.time - first.time >= Self.minimum else {
            return nil
        }
        return (Double(last.bytes) - Double(first.bytes)) / (last.time - first.time)
    }
}

/// Estimates the time until a download is done, from samples of time and bytes. While the speed only fluctuates, the
/// time counts down like a clock. When the speed changes for good, the time follows the new speed.
package struct TimeLeftMeter {
    /// A speed whose measurements fade: after `memory` seconds, a measurement has about a third (1/e) of its weight.
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

    /// The `memory` of the average speed, in seconds. It covers a longer time than the displayed speed
    /// (``SpeedMeter/window``), because a small error of the speed makes a large error of the time left.
    private static let memory = 12.0
    private static let shortMemory = 4.0
    /// The factor by which the recent speed must differ from the average to count as a new speed.
    private static let change = 1.5
    /// The minimum time of measurement before there is an estimate, in seconds.
    private static let minimum = 0.5
    /// The maximum error of the estimate, as a fraction of the time left. Smaller errors, and errors up to one second,
    /// are not corrected.
    private static let tolerance = 0.1
    /// The minimum estimate while bytes are missing, in seconds.
    private static let shortest = 0.1

    /// The time of the last sample.
    private var time: Double?
    private var bytes: Int64 = 0
    private var average = FadingSpeed(memory: memory)
    private var recent = FadingSpeed(memory: shortMemory)
    /// The expected end, in the same clock as ``time``.
    private var end: Double?

    package init() {}

    /// Adds a sample, as ``SpeedMeter/add(time:bytes:)``.
    /// - Parameter remaining: the number of missing bytes; nil while the size is unknown.
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

    /// The time left, in seconds; nil until there are enough samples.
    package var left: Double? {
        guard let end, let time else { return nil }
        return max(Self.shortest, end - time)
    }

    private mutating func measure(_ fetched: Double, in seconds: Double) {
        average.add(fetched, in: seconds)
        recent.add(fetched, in: seconds)
        let (low, high) = (average.speed / Self.change, average.speed * Self.change)
        if (low...high).contains(recent.speed) { return }
        // The recent measurements still contain some of the old speed, so they get little weight against later ones.
        (average.bytes, average.seconds) = (recent.bytes / Self.shortMemory, recent.seconds / Self.shortMemory)
    }
}
