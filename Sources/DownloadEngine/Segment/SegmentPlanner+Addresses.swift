/// The addresses of the server's name, to which the connections are directed.
extension SegmentPlanner {
    package mutating func asksForAddresses() -> Bool {
        addresses.asks(connections, left: left, isAlone: !ramp.observes)
    }

    package mutating func found(addresses count: Int) { addresses.found(count) }

    /// Returns the address that a connection uses, as a number. 0 stands for the address of the first connection.
    package func address(of id: Int) -> Int { index(of: id).map { connections[$0].address } ?? 0 }

    /// Makes a connection use another address from its next request on, because the request that has just ended failed.
    /// Returns false if the address is not to blame.
    /// - Parameter isDeclined: Whether an answer came that was not the requested bytes.
    package mutating func leaveAddress(of id: Int, isDeclined: Bool) -> Bool {
        guard let index = index(of: id),
            addresses.fail(connections[index].address, isDeclined: isDeclined, at: now)
        else { return false }
        chooseAddress(index)
        return true
    }

    /// Gives a connection without a request the address for its next one.
    mutating func chooseAddress(_ index: Int) {
        let others = connections.filter { $0.id != connections[index].id }
        connections[index].address = addresses.take(beside: others, at: now)
    }
}
