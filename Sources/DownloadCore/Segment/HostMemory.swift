import Foundation
import Synchronization

/// What is known of hosts, by origin; shared by the runners of a session.
package final class HostMemory: Sendable {
    private let known = Mutex<[String: HostKnowledge]>([:])

    /// A session may meet any number of hosts.
    private static let limit = 1000

    package init() {}

    package func knowledge(of origin: String, at now: Date) -> HostKnowledge? {
        known.withLock { $0[origin] }.flatMap { $0.isFresh(at: now) ? $0 : nil }
    }

    package func learn(_ knowledge: HostKnowledge, of origin: String) {
        known.withLock { known in
            if known.count >= Self.limit, known[origin] == nil { known.removeAll() }
            known[origin] = knowledge
        }
    }
}
