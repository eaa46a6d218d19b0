/// The HTTP version of each origin, learned from the first transfer to the origin. The other transfers wait until the
/// version is known. With HTTP/2 they share one connection, which is cheaper than a connection for each. With HTTP/1.1
/// a connection cannot be shared, so each transfer gets its own.
struct OriginProtocols<Transfer: AnyObject> {
    enum Route: Equatable {
        case scout, held, multiplexed, plain
    }

    private enum Knowledge {
        case scouting(Transfer, held: [Transfer])
        case multiplexed
        case plain
    }

    private var origins: [String: Knowledge] = [:]

    /// Returns the route of a transfer. The first transfer to an origin gets `.scout`. A later transfer that must wait
    /// for the first one gets `.held`. `learned` or `scoutEnded` returns this transfer later.
    mutating func route(_ origin: String, _ transfer: Transfer) -> Route {
        switch origins[origin] {
        case .multiplexed: return .multiplexed
        case .plain: return .plain
        case .scouting(let scout, let held):
            origins[origin] = .scouting(scout, held: held + [transfer])
            return .held
        case nil:
            origins[origin] = .scouting(transfer, held: [])
            return .scout
        }
    }

    /// Records the HTTP version that the response head of the first transfer shows. Returns the transfers that waited
    /// for the version.
    mutating func learned(_ origin: String, from transfer: Transfer, multiplexes: Bool) -> [Transfer] {
        guard case .scouting(let scout, let held) = origins[origin], scout === transfer else { return [] }
        origins[origin] = multiplexes ? .multiplexed : .plain
        return held
    }

    /// Records the end of a transfer. If it was the first transfer to the origin and ended without a response head,
    /// returns the transfers that waited for it.
    mutating func scoutEnded(_ origin: String, _ transfer: Transfer) -> [Transfer] {
        guard case .scouting(let scout, let held) = origins[origin], scout === transfer else { return [] }
        origins[origin] = nil
        return held
    }

    /// Removes a waiting transfer that is cancelled.
    mutating func forget(_ origin: String, _ transfer: Transfer) {
        guard case .scouting(let scout, let held) = origins[origin] else { return }
        origins[origin] = .scouting(scout, held: held.filter { $0 !== transfer })
    }

    /// Removes and returns the waiting transfers for which `isMeant` returns true. Called when an engine ends.
    mutating func takeHeld(where isMeant: (Transfer) -> Bool) -> [Transfer] {
        var taken: [Transfer] = []
        for (origin, knowledge) in origins {
            guard case .scouting(let scout, let held) = knowledge else { continue }
            taken += held.filter(isMeant)
            origins[origin] = .scouting(scout, held: held.filter { !isMeant($0) })
        }
        return taken
    }
}
