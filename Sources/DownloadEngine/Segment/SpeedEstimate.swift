import Foundation

/// The recent speed of a connection in bytes per second. Older observations lose weight, so that the estimate neither
/// jumps nor follows too slowly.
struct SpeedEstimate: Sendable {
    /// Bytes and the seconds in which they came.
    private typealias Sum = (bytes: Double, seconds: Double)

    private var fading: Sum = (0, 0)
    private var whole: Sum = (0, 0)
    /// The bytes at the start of this answer.
    private var burst: Sum = (0, 0)
    private var isPastBurst = false
    /// The observations since the last complete moment, including the start of an answer. The speed of that moment is
    /// `recent`.
    private var moment: Sum = (0, 0)
    private var recent: Double?

    /// The time in seconds after which an observation has lost two thirds of its weight.
    private static let memory = 2.0
    private static let leastObserved = 0.1
    private static let leastAnswer = 0.02
    /// The length of a moment in seconds. It is long enough for most servers that send in pieces.
    private static let recentTime = 0.4
    private static let leastRecent = 0.25

    /// Adds an observation.
    /// - Parameter isBurst: Whether the bytes are the start of an answer. Some servers send the first bytes fast and
    ///   slow down afterwards, so these bytes do not show the speed.
    mutating func observe(_ count: Int64, over time: Double, isBurst: Bool) {
        add(count, time, to: &whole)
        add(count, time, to: &moment)
        if moment.seconds >= Self.recentTime {
            recent = moment.bytes / moment.seconds
            moment = (0, 0)
        }
        if isBurst {
            add(count, time, to: &burst)
        } else {
            isPastBurst = true
            fade(time)
            add(count, time, to: &fading)
        }
    }

    /// Records the end of an answer. If the whole answer was a burst, its bytes are used as an observation after all.
    mutating func endAnswer() {
        if !isPastBurst, burst.seconds >= Self.leastAnswer {
            fade(burst.seconds)
            fading = (fading.bytes + burst.bytes, fading.seconds + burst.seconds)
        }
        (burst, moment) = ((0, 0), (0, 0))
        isPastBurst = false
    }

    private func add(_ count: Int64, _ time: Double, to sum: inout Sum) {
        sum = (sum.bytes + Double(count), sum.seconds + time)
    }

    private mutating func fade(_ time: Double) {
        let factor = exp(-time / Self.memory)
        fading = (fading.bytes * factor, fading.seconds * factor)
    }

    private var latest: Double? { moment.seconds >= Self.leastRecent ? moment.bytes / moment.seconds : recent }

    /// The lower of the estimate and the latest speed. It is used for estimates of the time that a connection needs, so
    /// that nothing waits for a connection that has become slow.
    var low: Double? { value.map { min($0, latest ?? $0) } }

    /// The estimate; nil until enough was observed. Without observations after a burst, it is the average speed of all
    /// bytes.
    var value: Double? {
        if fading.seconds >= Self.leastObserved { return fading.bytes / fading.seconds }
        return whole.bytes > 0 && whole.seconds >= Self.leastObserved ? whole.bytes / whole.seconds : nil
    }
}
