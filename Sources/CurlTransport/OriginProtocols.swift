/// What each origin speaks, learned from one scout per origin: opening a connection for every transfer to a server
/// that could have shared one is dear, and waiting for one that cannot share would serialise everything.
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

    /// Where the transfer goes; a held one comes back from `learned` or `scoutEnded`.
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

    /// The scout's head has come: returns the transfers that waited for it.
    mutating func learned(_ origin: String, from transfer: Transfer, multiplexes: Bool) -> [Transfer] {
        guard case .scouting(let scout, let held) = origins[origin], scout === transfer else { return [] }
        origins[origin] = multiplexes ? .multiplexed : .plain
        return held
    }

    /// The transfer ended; if it was a scout that learned nothing, returns those that waited for it.
    mutating func scoutEnded(_ origin: String, _ transfer: Transfer) -> [Transfer] {
        guard case .scouting(let scout, let held) = origins[origin], scout === transfer else { return [] }
        origins[origin] = nil
        return held
    }

    /// A held transfer is cancelled.
    mutating func forget(_ origin: String, _ transfer: Transfer) {
        guard case .scouting(let scout, let held) = origins[origin] else { return }
        origins[origin] = .scouting(scout, held: held.filter { $0 !== transfer })
    }

    /// Those of one engine that ends, and what its scouts might have learned is not waited for any more.
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
