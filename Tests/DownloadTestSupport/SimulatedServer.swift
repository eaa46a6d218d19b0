import DownloadCore
import Foundation

/// A server and the lines to it as the planner's tests see them: time is a number, the same seed gives the same run.
package struct SimulatedServer: Sendable {
    /// Bytes a second of a connection, the median of a log-normal distribution; another is drawn every `period`.
    package var speed = 1_250_000.0
    package var sigma = 0.7
    package var period = 5.0
    /// How likely a connection stands still for a period.
    package var stalls = 0.0
    package var roundTrip = 0.1
    /// An answer may take so much longer, in seconds.
    package var hesitation = 0.0
    /// Every answer takes so much longer, in seconds.
    package var delay = 0.0
    /// More connections than this are answered with 503.
    package var limit = Int.max
    /// Sent at once at the beginning of each answer.
    package var burst: Int64 = 0
    /// Sent in pieces of this size, as servers do that limit the speed.
    package var piece: Int64 = 1
    /// What all connections share.
    package var line = Double.infinity
    /// How likely a connection breaks, in a second.
    package var losses = 0.0
    package var seed: UInt64 = 1
    /// Bytes a second of each connection; empty: they are drawn.
    package var lanes: [Double] = []

    package init() {}

    /// Of one connection in one period.
    package func speed(of slot: Int, at time: Double) -> Double {
        if !lanes.isEmpty { return lanes[slot % lanes.count] }
        var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(slot) &* 7919 &+ UInt64(time / period) &* 104_729)
        // The first numbers of neighbouring seeds are alike.
        for _ in 0..<4 { _ = random.next() }
        let (u, v) = (Double.random(in: 1e-12..<1, using: &random), Double.random(in: 0..<1, using: &random))
        if Double.random(in: 0..<1, using: &random) < stalls { return 0 }
        return speed * exp(sigma * (-2 * log(u)).squareRoot() * cos(2 * .pi * v))
    }

    /// Seconds that so many connections need which are never idle.
    package func ideal(size: Int64, connections: Int) -> Double {
        var (left, periods) = (Double(size), 0.0)
        while true {
            let sum = (0..<min(connections, limit)).reduce(0) { $0 + speed(of: $1, at: (periods + 0.5) * period) }
            let rate = min(sum, line)
            if rate * period >= left { return periods * period + left / rate }
            left -= rate * period
            periods += 1
        }
    }
}
