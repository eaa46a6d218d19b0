import Foundation

/// How fast a connection is of late, in bytes a second: sums that fade, so that it neither jumps nor clings.
struct SpeedEstimate: Sendable, Equatable {
    private var bytes = 0.0
    private var seconds = 0.0
    private var recent: Double?
    private var recentBytes = 0.0
    private var recentSeconds = 0.0
    private var wholeBytes = 0.0
    private var wholeSeconds = 0.0

    /// After so many seconds an observation has lost two thirds of its weight.
    private static let memory = 2.0
    private static let leastObserved = 0.1
    /// Long enough for most servers that send in pieces.
    private static let recentTime = 0.4

    /// - Parameter isBurst: the beginning of an answer: what a server sends ahead, to slow down afterwards, is no speed.
    mutating func observe(_ count: Int64, over time: Double, isBurst: Bool) {
        wholeBytes += Double(count)
        wholeSeconds += time
        if isBurst { return }
        let fade = exp(-time / Self.memory)
        bytes = bytes * fade + Double(count)
        seconds = seconds * fade + time
        recentBytes += Double(count)
        recentSeconds += time
        if recentSeconds < Self.recentTime { return }
        recent = recentBytes / recentSeconds
        (recentBytes, recentSeconds) = (0, 0)
    }

    /// For the time that it needs: a connection that has become slow must not be waited for.
    var low: Double? { value.map { min($0, recent ?? $0) } }
    /// For what it may be given: one that stood still goes on as before.
    var high: Double? { value.map { max($0, recent ?? $0) } }

    /// Nil until there is something to go by. Where answers are over before their beginning is, that has to do.
    var value: Double? {
        if seconds >= Self.leastObserved { return bytes / seconds }
        return wholeBytes > 0 && wholeSeconds >= Self.leastObserved ? wholeBytes / wholeSeconds : nil
    }
}
