/// The search for fast addresses of the server's name. The servers behind one name are taken to be alike, but not
/// equally fast. Addresses are numbers: 0 is the address of the first connection. New connections are divided evenly
/// among the addresses, and leave an address that is much slower than another one.
struct AddressSearch: Sendable {
    private enum State {
        case untried, tried
        /// The address is used only if every other one has failed.
        case slow
        /// The address has failed, and never served.
        case failed
    }

    private struct Address {
        var state = State.untried
        /// Whether bytes of the file have come from the address since it last failed.
        var hasServed = false
        /// The speed of a connection with this address, in bytes per second.
        var speed: Double?
    }

    private enum Knowledge {
        case notWanted, missing, asked, complete
    }

    private var addresses = [Address(state: .tried, hasServed: true)]
    private var knowledge: Knowledge
    /// The address for the next new connection.
    private var next: Int?
    /// The time at which an address was last tried for the first time.
    private var last = -Double.infinity

    private static let mostAddresses = 8
    /// The age from which a connection shows the speed of its address, in windows after its first byte (see
    /// ``ConnectionRamp/Observation/window``).
    private static let leastAge = 3.0
    /// The fraction of the best address's speed below which an address is slow. The only connection of a download goes
    /// back to the faster address for less.
    private static let slow = (any: 0.5, alone: 0.8)
    /// The seconds that the rest of the file must take at the present speed before another address is tried: with
    /// several connections, and with a single one, which brings nothing while it is replaced.
    private static let leastTimeLeft = (any: 4.0, alone: 30.0)
    /// The seconds between two such trials.
    private static let pause = (any: 0.3, alone: 10.0)
    /// The seconds that a connection to a slow address must still need for its range before it is closed.
    private static let leastLeft = 1.0

    /// - Parameter isWanted: Whether the connections of the download may use several addresses.
    init(isWanted: Bool) { knowledge = isWanted ? .missing : .notWanted }

    /// Whether observations make a difference.
    var observes: Bool { knowledge == .missing || addresses.count > 1 }

    /// Returns whether the addresses must be looked up now. Returns true only once.
    mutating func asks(_ connections: [PlannedConnection], left: Int64, isAlone: Bool) -> Bool {
        guard knowledge == .missing, lasts(connections, left, isAlone) else { return false }
        knowledge = .asked
        return true
    }

    mutating func found(_ count: Int) {
        if knowledge == .complete { return }
        knowledge = .complete
        addresses += Array(repeating: Address(), count: max(0, min(count, Self.mostAddresses) - 1))
    }

    /// Records that the first byte of an answer has come from the address.
    mutating func served(_ address: Int) { addresses[address].hasServed = true }

    /// Returns the address for a new connection. An address from which no byte has come yet may never answer, so it gets
    /// one connection at a time.
    mutating func take(beside connections: [PlannedConnection], at now: Double) -> Int {
        let fit = addresses.indices.filter { index in
            [.untried, .tried].contains(addresses[index].state)
                && (addresses[index].hasServed || !connections.contains { $0.address == index })
        }
        let chosen: Int?
        if let next {
            chosen = next
        } else if connections.isEmpty {
            chosen = fit.filter { addresses[$0].state == .tried }
                .max { (addresses[$0].speed ?? 0, -$0) < (addresses[$1].speed ?? 0, -$1) }
        } else {
            func load(_ address: Int) -> Int { connections.count { $0.address == address } }
            chosen = fit.min { (load($0), $0) < (load($1), $1) }
        }
        next = nil
        guard let chosen else { return 0 }
        if addresses[chosen].state == .untried { (addresses[chosen].state, last) = (.tried, now) }
        return chosen
    }

    /// Records that a connection to the address failed, or was answered with something else than the file. An address
    /// that has served before is tried once more, later.
    /// - Returns: Whether the address is to blame. Otherwise the server is: the first address failed, or one that has
    ///   served before declines a request.
    mutating func fail(_ address: Int, isDeclined: Bool, at now: Double) -> Bool {
        guard address > 0, !(isDeclined && addresses[address].hasServed) else { return false }
        (addresses[address].state, last) = addresses[address].hasServed ? (.untried, now) : (.failed, -.infinity)
        (addresses[address].hasServed, addresses[address].speed) = (false, nil)
        if !addresses.contains(where: { $0.state == .tried }) {
            for index in addresses.indices where addresses[index].state == .slow { addresses[index].state = .tried }
        }
        return true
    }

    /// Returns the index of a connection to close because its successor should use another address.
    /// - Parameters:
    ///   - window: The time in seconds for which connections are observed.
    ///   - mayCloseOnly: Whether the only connection may be closed. A server that has refused another one may refuse its
    ///     successor, too.
    mutating func choose(
        _ connections: [PlannedConnection], left: Int64, window: Double, mayCloseOnly: Bool = true, at now: Double
    ) -> Int? {
        guard addresses.count > 1, !connections.isEmpty, mayCloseOnly || connections.count > 1 else { return nil }
        measure(connections, age: Self.leastAge * window, now)
        judge(connections)
        let candidates = connections.indices.filter { index in
            let connection = connections[index]
            return connection.hasOwnRequest
                && Double(connection.left) >= Self.leastLeft * (connection.pace.speed.value ?? .infinity)
        }
        return candidates.first { addresses[connections[$0].address].state == .slow }
            ?? trial(connections, candidates, left, now)
    }

    /// Measures each address. A single connection is compared with the addresses that it has used before. With several
    /// connections, only speeds of the same time are compared, because their number changes.
    private mutating func measure(_ connections: [PlannedConnection], age: Double, _ now: Double) {
        for index in addresses.indices {
            let speeds = connections.filter {
                $0.address == index && $0.pace.isSteady(at: now, burst: age)
            }.compactMap(\.pace.speed.value)
            if !speeds.isEmpty {
                addresses[index].speed = speeds.reduce(0, +) / Double(speeds.count)
            } else if connections.count > 1 {
                addresses[index].speed = nil
            }
        }
    }

    private mutating func judge(_ connections: [PlannedConnection]) {
        let best = addresses.filter { $0.state == .tried }.compactMap(\.speed).max() ?? 0
        for index in addresses.indices where addresses[index].state == .tried {
            let isOnly = connections.count == 1 && connections[0].address == index
            guard let speed = addresses[index].speed, speed < (isOnly ? Self.slow.alone : Self.slow.any) * best else {
                continue
            }
            addresses[index].state = .slow
        }
    }

    /// Chooses the slowest connection if an address should be tried that no connection has used.
    private mutating func trial(
        _ connections: [PlannedConnection], _ candidates: [Int], _ left: Int64, _ now: Double
    ) -> Int? {
        let isAlone = connections.count == 1
        guard next == nil, let untried = addresses.firstIndex(where: { $0.state == .untried }),
            now >= last + (isAlone ? Self.pause.alone : Self.pause.any), lasts(connections, left, isAlone)
        else { return nil }
        let chosen = candidates.filter { index in
            let address = connections[index].address
            // Every address keeps a connection, with which the new one is compared.
            return isAlone
                ? addresses[address].speed != nil
                : now >= last + Self.pause.alone
                    || connections.contains { $0.id != connections[index].id && $0.address == address }
        }.min { (connections[$0].pace.speed.value ?? 0) < (connections[$1].pace.speed.value ?? 0) }
        if chosen != nil { next = untried }
        return chosen
    }

    /// Returns whether the rest of the file takes so long that another address may pay.
    private func lasts(_ connections: [PlannedConnection], _ left: Int64, _ isAlone: Bool) -> Bool {
        let speeds = connections.compactMap(\.pace.speed.value)
        let time = isAlone ? Self.leastTimeLeft.alone : Self.leastTimeLeft.any
        return !speeds.isEmpty && Double(left) >= time * speeds.reduce(0, +)
    }
}
