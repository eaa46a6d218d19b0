import Foundation

/// What earlier downloads found out about one host, for the next one that may choose its number of connections.
public struct HostKnowledge: Codable, Sendable, Equatable {
    /// So many connections paid.
    public var best: Int
    /// More than so many were refused.
    public var cap: Int?
    public var learned: Date

    public init(best: Int, cap: Int?, learned: Date) {
        self.best = best
        self.cap = cap
        self.learned = learned
    }

    /// Hosts and lines change: older knowledge is none.
    public static let lifetime = 7.0 * 24 * 3600

    public func isFresh(at now: Date) -> Bool {
        (0..<Self.lifetime).contains(now.timeIntervalSince(learned))
    }
}
