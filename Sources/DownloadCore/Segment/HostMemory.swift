import Foundation
import Synchronization

/// What is known of hosts, by origin, and how many connections there are with each; shared by the runners of a session.
package final class HostMemory: Sendable {
    fileprivate struct Host {
        var knowledge: HostKnowledge?
        /// While downloads transfer from it.
        var budget: ConnectionBudget?
    }

    private let hosts = Mutex<[String: Host]>([:])

    /// A session may meet any number of hosts.
    private static let limit = 1000

    package init() {}

    /// No download transfers.
    package var isIdle: Bool { hosts.withLock { $0.values.allSatisfy { $0.budget == nil } } }

    package func knowledge(of origin: String, at now: Date) -> HostKnowledge? {
        hosts.withLock { $0[origin]?.knowledge }.flatMap { $0.isFresh(at: now) ? $0 : nil }
    }

    /// What was found out before this session; what it finds out itself counts more.
    package func recall(_ knowledge: HostKnowledge?, of origin: String) {
        guard let knowledge else { return }
        change(origin) { $0.knowledge = $0.knowledge ?? knowledge }
    }

    /// A download begins to transfer; letting go of the share gives its connections back.
    /// - Parameters:
    ///   - isFixed: its number of connections is given.
    ///   - limit: the most connections that it opens unasked.
    package func share(
        of origin: String, isFixed: Bool, limit: Int = SegmentPlanner.automaticLimit, at now: Date
    ) -> ConnectionShare {
        let cap = knowledge(of: origin, at: now)?.cap
        let id = change(origin) { host in
            var budget = host.budget ?? ConnectionBudget(limit: cap ?? limit)
            if cap == nil { budget.raise(to: limit) }
            defer { host.budget = budget }
            return budget.join(isFixed: isFixed)
        }
        return ConnectionShare(memory: self, origin: origin, id: id)
    }

    fileprivate func change<Result>(_ origin: String, _ body: (inout Host) -> Result) -> Result {
        hosts.withLock { hosts in
            if hosts.count >= Self.limit, hosts[origin] == nil { hosts = hosts.filter { $0.value.budget != nil } }
            return body(&hosts[origin, default: Host()])
        }
    }
}

/// The part that one download has in the connections with a host.
package final class ConnectionShare: Sendable {
    private let memory: HostMemory
    private let origin: String
    private let id: Int

    fileprivate init(memory: HostMemory, origin: String, id: Int) {
        self.memory = memory
        self.origin = origin
        self.id = id
    }

    deinit {
        memory.change(origin) { host in
            host.budget?.leave(id)
            if host.budget?.isIdle == true { host.budget = nil }
        }
    }

    /// How many it may have now; each call says anew what it has.
    package func grant(has: Int, wants: Int) -> Int {
        memory.change(origin) { $0.budget?.grant(id, has: has, wants: wants) ?? 1 }
    }

    /// What it was granted and does not use is free.
    package func settle(has: Int) { memory.change(origin) { $0.budget?.settle(id, has: has) } }

    /// The host let go of a connection, or did not take one more. Others learn it at once.
    /// - Parameter serving: those of this download that it still answers.
    package func refused(serving: Int, at now: Date) -> HostKnowledge? {
        memory.change(origin) { host in
            guard let limit = host.budget?.refused(id, serving: serving) else { return nil }
            let known = HostKnowledge(best: min(host.knowledge?.best ?? limit, limit), cap: limit, learned: now)
            host.knowledge = known
            return known
        }
    }

    /// So many connections paid.
    package func learn(best: Int, at now: Date) -> HostKnowledge {
        memory.change(origin) { host in
            var known = HostKnowledge(best: best, cap: nil, learned: now)
            if let former = host.knowledge, let cap = former.cap, former.isFresh(at: now) {
                // The cap is not younger for it.
                known = HostKnowledge(best: min(best, cap), cap: cap, learned: former.learned)
            }
            host.knowledge = known
            return known
        }
    }
}
