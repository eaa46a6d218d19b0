import Foundation

/// How fast a connection is of late, in bytes a second: sums that fade, so that it neither jumps nor clings.
struct SpeedEstimate: Sendable, Equatable {
    private var bytes = 0.0
    private var seconds = 0.0
    private var wholeBytes = 0.0
    private var wholeSeconds = 0.0

    /// After so many seconds an observation has lost two thirds of its weight.
    private static let memory = 2.0
    private static let leastObserved = 0.1

    /// - Parameter isBurst: the beginning of an answer: what a server sends ahead, to slow down afterwards, is no speed.
    mutating func observe(_ count: Int64, over time: Double, isBurst: Bool) {
        wholeBytes += Double(count)
        wholeSeconds += time
        if isBurst { return }
        let fade = exp(-time / Self.memory)
        bytes = bytes * fade + Double(count)
        seconds = seconds * fade + time
    }

    /// Nil until there is something to go by. Where answers are over before their beginning is, that has to do.
    var value: Double? {
        if seconds >= Self.leastObserved { return bytes / seconds }
        return wholeBytes > 0 && wholeSeconds >= Self.leastObserved ? wholeBytes / wholeSeconds : nil
    }
}
