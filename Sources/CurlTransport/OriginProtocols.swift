/// The HTTP version of each origin, learned from the first transfer to the origin. A connection for every transfer is
/// expensive if the server could have shared one connection. Waiting for a connection that cannot be shared would
/// serialize all transfers.
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

    /// Returns the route of a transfer. A parked transfer is returned later, by `learned` or `scoutEnded`.
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

    /// Records what the probe's response head shows. Returns the transfers that waited for the probe.
    mutating func learned(_ origin: String, from transfer: Transfer, multiplexes: Bool) -> [Transfer] {
        guard case .scouting(let scout, let held) = origins[origin], scout === transfer else { return [] }
        origins[origin] = multiplexes ? .multiplexed : .plain
        return held
    }

    /// Records the end of a transfer. If the transfer was a probe that learned nothing, returns the transfers that
    /// waited for the probe.
    mutating func scoutEnded(_ origin: String, _ transfer: Transfer) -> [Transfer] {
        guard case .scouting(let scout, let held) = origins[origin], scout === transfer else { return [] }
        origins[origin] = nil
        return held
    }

    /// Removes a parked transfer that is cancelled.
    mutating func forget(_ origin: String, _ transfer: Transfer) {
        guard case .scouting(let scout, let held) = origins[origin] else { return }
        origins[origin] = .scouting(scout, held: held.filter { $0 !== transfer })
    }

    /// Removes and returns the parked transfers that match, for an engine that ends.
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
