import Foundation

/// The host profile: the best number of connections to one host, as earlier downloads have measured it. Later downloads
/// use it if their number of connections is automatic.
package struct HostKnowledge: ServerKnowledge, Equatable {
    /// The number of connections beyond which the speed did not grow.
    package var best: Int
    /// The number of connections above which the host refused more; nil if it never did.
    package var cap: Int?
    package var learned: Date

    package init(best: Int, cap: Int?, learned: Date) {
        self.best = best
        self.cap = cap
        self.learned = learned
    }

    package static let kind = "host"
    package static let mostKept = 500
    /// The age in seconds from which a profile is ignored, because hosts and networks change.
    package static let lifetime = 7.0 * 24 * 3600
    /// The same age for a profile with a cap. It is shorter, because the host may only have been busy for a while.
    private static let lifetimeOfCap = 24.0 * 3600

    package var isBelievable: Bool { (1...1000).contains(best) && (1...1000).contains(cap ?? 1) }

    package func isFresh(at now: Date) -> Bool {
        (0..<(cap == nil ? Self.lifetime : Self.lifetimeOfCap)).contains(now.timeIntervalSince(learned))
    }
}
