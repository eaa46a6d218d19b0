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
