import DownloadCore
import DownloadTestSupport
import Foundation

/// A server and the network, as the planner's tests see them. Time is a number, and the same seed gives the same run.
struct SimulatedServer: Sendable {
    /// The speed of a connection in bytes per second. It is the median of a log-normal distribution; each `period` has
    /// another random speed.
    var speed = 1_250_000.0
    var sigma = 0.7
    var period = 5.0
    /// The probability that a connection stops for a period.
    var stalls = 0.0
    var roundTrip = 0.1
    /// The maximum additional delay of an answer, in seconds. Each answer has a random delay up to this value.
    var hesitation = 0.0
    /// The additional delay of every answer, in seconds.
    var delay = 0.0
    /// The maximum number of connections. Further connections are answered with 503.
    var limit = Int.max
    /// The number of bytes that are sent at once at the beginning of each answer.
    var burst: Int64 = 0
    /// The size in bytes of the pieces that the server sends. Servers that limit the speed send in such pieces.
    var piece: Int64 = 1
    /// The speed that all connections share, in bytes per second.
    var line = Double.infinity
    /// The probability that a connection breaks within a second.
    var losses = 0.0
    var seed: UInt64 = 1
    /// The speed of each connection in bytes per second. If empty, the speeds are random.
    var lanes: [Double] = []
    /// The range of the speeds that connections are given by lot when they are opened. Nil for none.
    var lots: ClosedRange<Double>?
    /// The time from which all speeds are multiplied by the factor.
    var change: (at: Double, factor: Double)?
    /// The number of bytes after which connections break, by lot.
    var breaks: ClosedRange<Int64>?
    /// Every so many connections, one falls silent after this number of bytes.
    var silence: (each: Int, after: Int64)?
    /// If more connections than this number are open, all speeds are multiplied by the factor for some seconds.
    var collapse: (above: Int, factor: Double, seconds: Double)?
    /// The seconds for which there may be too many connections before all are throttled.
    var collapseDelay = 0.0
    /// While more connections than this number are open and so many bytes were sent in the last seconds, all speeds are
    /// multiplied by the factor.
    var quota: (above: Int, bytes: Double, seconds: Double, factor: Double)?
    /// The factors for the speeds of connections to each address of the server's name. A factor of 0 stands for an
    /// address that refuses connections.
    var addresses: [Double] = [1]
    /// The treatment of a connection above ``limit``.
    var refusal = Refusal.status

    enum Refusal: Sendable {
        case status, reset, silence
    }

    init() {}

    /// Returns the speed of one connection in the period of this time.
    func speed(of slot: Int, at time: Double) -> Double {
        if !lanes.isEmpty { return lanes[slot % lanes.count] }
        var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(slot) &* 7919 &+ UInt64(time / period) &* 104_729)
        // The first numbers of neighbouring seeds are similar.
        for _ in 0..<4 { _ = random.next() }
        let (u, v) = (Double.random(in: 1e-12..<1, using: &random), Double.random(in: 0..<1, using: &random))
        if Double.random(in: 0..<1, using: &random) < stalls { return 0 }
        return speed * exp(sigma * (-2 * log(u)).squareRoot() * cos(2 * .pi * v))
    }

    /// Returns the seconds that this many connections need if they are never idle.
    func ideal(size: Int64, connections: Int) -> Double {
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
