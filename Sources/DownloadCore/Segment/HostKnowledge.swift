import Foundation

/// What earlier downloads found out about one host, for the next one that may choose its number of connections.
package struct HostKnowledge: Codable, Sendable, Equatable {
    /// So many connections paid.
    package var best: Int
    /// More than so many were refused.
    package var cap: Int?
    package var learned: Date

    package init(best: Int, cap: Int?, learned: Date) {
        self.best = best
        self.cap = cap
        self.learned = learned
    }

    /// Hosts and lines change: older knowledge is none, in seconds.
    package static let lifetime = 7.0 * 24 * 3600
    /// A host that refused connections may have been busy.
    private static let lifetimeOfCap = 24.0 * 3600

    /// Whatever says otherwise was not found out by a download.
    package static let believable = 1...1000

    package func isFresh(at now: Date) -> Bool {
        (0..<(cap == nil ? Self.lifetime : Self.lifetimeOfCap)).contains(now.timeIntervalSince(learned))
    }
}
