import Foundation

/// The documents with digests that a folder of a server does not have (``ProofPlan``), as earlier downloads have found.
package struct FolderKnowledge: ServerKnowledge, Equatable {
    package var missing: Set<String>
    package var learned: Date

    package init(missing: Set<String>, learned: Date) {
        self.missing = missing
        self.learned = learned
    }

    package static let kind = "folder"
    package static let mostKept = 500
    /// The age in seconds from which the knowledge is ignored, because lists are often published after their files.
    package static let lifetime = 24.0 * 3600

    package var isBelievable: Bool { true }

    package func isFresh(at now: Date) -> Bool { (0..<Self.lifetime).contains(now.timeIntervalSince(learned)) }
}
