import Foundation

/// The knowledge of a store about a place, for later sessions. A place is a server, or a folder of a server.
package protocol ServerKnowledge: Codable, Sendable {
    /// The name of this kind of knowledge in the store.
    static var kind: String { get }
    /// The age in seconds from which the store forgets it.
    static var lifetime: Double { get }
    /// The number of places that are remembered. The oldest are forgotten first.
    static var mostKept: Int { get }
    var learned: Date { get }
    /// Whether a download can have learned these values. Other values come from a damaged store, and are ignored.
    var isBelievable: Bool { get }
}
