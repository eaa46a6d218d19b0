/// Speed over the last seconds, from (time, bytes) as they are seen.
package struct SpeedMeter {
    private struct Sample {
        let time: Double
        let bytes: Int64
    }

    /// Seconds that are looked back.
    package static let window = 4.0
    /// Seconds before anything is said.
    package static let minimum = 0.25

    private var samples: [Sample] = []

    package init() {}

    /// - Parameters:
    ///   - time: seconds, never running backwards.
    ///   - bytes: all there are; fewer than before (a restart) begin anew.
    package mutating func add(time: Double, bytes: Int64) {
        if let last = samples.last, bytes < last.bytes { samples = [] }
        samples.append(Sample(time: time, bytes: bytes))
        // One sample at or beyond the window stays, so that the whole of it is covered.
        while samples.count > 2, samples[1].time <= time - Self.window { samples.removeFirst() }
    }

    /// Bytes per second; nil until there is something to go by.
    package var speed: Double? {
        guard let first = samples.first, let last = samples.last, last.time - first.time >= Self.minimum else {
            return nil
        }
        return (Double(last.bytes) - Double(first.bytes)) / (last.time - first.time)
    }
}
