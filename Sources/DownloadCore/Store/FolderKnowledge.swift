import Foundation

/// The documents with digests that a folder of a server does not have (``ProofPlan``), as earlier downloads have found.
package struct FolderKnowledge: Sendable, Equatable {
    package var missing: Set<String>
    package var learned: Date

    package init(missing: Set<String>, learned: Date) {
        self.missing = missing
        self.learned = learned
    }

    /// The age in seconds from which the knowledge is ignored, because lists are often published after their files.
    package static let lifetime = 24.0 * 3600

    /// - Note: The store keeps whole milliseconds, so the time of learning can be a little later than now.
    package func isFresh(at now: Date) -> Bool { (-0.001..<Self.lifetime).contains(now.timeIntervalSince(learned)) }
}
