import Foundation

/// How fast a connection is of late, in bytes a second: sums that fade, so that it neither jumps nor clings.
struct SpeedEstimate: Sendable {
    /// Bytes and seconds.
    private typealias Sum = (bytes: Double, seconds: Double)

    private var fading: Sum = (0, 0)
    private var whole: Sum = (0, 0)
    /// Of this answer.
    private var burst: Sum = (0, 0)
    private var isPastBurst = false
    /// Of the last moments, with the beginning of the answer; how fast those before were.
    private var moment: Sum = (0, 0)
    private var recent: Double?

    /// After so many seconds an observation has lost two thirds of its weight.
    private static let memory = 2.0
    private static let leastObserved = 0.1
    private static let leastAnswer = 0.02
    /// Long enough for most servers that send in pieces.
    private static let recentTime = 0.4
    private static let leastRecent = 0.25

    /// - Parameter isBurst: the beginning of an answer: what a server sends ahead, to slow down afterwards, is no speed.
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

    /// The answer is over. Was all of it its beginning, then that is how fast such answers are.
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

    /// For the time that it needs: a connection that has become slow must not be waited for.
    var low: Double? { value.map { min($0, latest ?? $0) } }

    /// Nil until there is something to go by. Where answers are over before their beginning is, that has to do.
    var value: Double? {
        if fading.seconds >= Self.leastObserved { return fading.bytes / fading.seconds }
        return whole.bytes > 0 && whole.seconds >= Self.leastObserved ? whole.bytes / whole.seconds : nil
    }
}
