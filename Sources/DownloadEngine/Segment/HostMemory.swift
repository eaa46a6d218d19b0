import DownloadCore
import Foundation
import Synchronization

/// The profiles of hosts by origin, and the connections that the downloads of a session have with each host.
package final class HostMemory: Sendable {
    fileprivate struct Host {
        var knowledge: HostKnowledge?
        /// The budget of connections, while downloads transfer from the host.
        var budget: ConnectionBudget?
    }

    private let hosts = Mutex<[String: Host]>([:])

    /// The number of hosts at which the hosts without a running download are forgotten. A session may meet any number
    /// of hosts.
    private static let limit = 1000

    package init() {}

    /// Whether no download is transferring from any host.
    package var isIdle: Bool { hosts.withLock { $0.values.allSatisfy { $0.budget == nil } } }

    package func knowledge(of origin: String, at now: Date) -> HostKnowledge? {
        hosts.withLock { $0[origin]?.knowledge }.flatMap { $0.isFresh(at: now) ? $0 : nil }
    }

    /// Adds a host profile from before this session. A profile that this session has learned itself is kept.
    package func recall(_ knowledge: HostKnowledge?, of origin: String) {
        guard let knowledge else { return }
        change(origin) { $0.knowledge = $0.knowledge ?? knowledge }
    }

    /// Adds a download to the connection budget of an origin. When the returned share is released, its connections
    /// become free.
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

/// One download's share of the connections with a host.
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

    package func grant(has: Int, wants: Int) -> Int {
        memory.change(origin) { $0.budget?.grant(id, has: has, wants: wants) ?? 1 }
    }

    /// Gives back connections that were granted and are not used.
    package func settle(has: Int) { memory.change(origin) { $0.budget?.settle(id, has: has) } }

    /// Records that the host closed a connection or refused another one. Other downloads are limited at once.
    @discardableResult
    package func refused(serving: Int, at now: Date) -> HostKnowledge? {
        memory.change(origin) { host in
            guard let limit = host.budget?.refused(id, serving: serving) else { return nil }
            let known = HostKnowledge(best: min(host.knowledge?.best ?? limit, limit), cap: limit, learned: now)
            host.knowledge = known
            return known
        }
    }

    /// Records the number of connections beyond which the speed stopped growing.
    package func learn(best: Int, at now: Date) -> HostKnowledge {
        memory.change(origin) { host in
            var known = HostKnowledge(best: best, cap: nil, learned: now)
            if let former = host.knowledge, let cap = former.cap, former.isFresh(at: now) {
                // This result does not renew the cap, so the time at which the cap was learned is kept.
                known = HostKnowledge(best: min(best, cap), cap: cap, learned: former.learned)
            }
            host.knowledge = known
            return known
        }
    }
}
