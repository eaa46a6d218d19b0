/// The bytes that the connections of a download have brought.
struct TransferSums: Sendable {
    private(set) var bytes = 0.0
    /// The bytes that were not part of a burst.
    private(set) var steadyBytes = 0.0
    /// The seconds of all bursts, each connection counted by itself.
    private(set) var burstTime = 0.0

    /// Adds what one connection brought in one observation.
    mutating func add(_ count: Int64, _ observed: (isBurst: Bool, time: Double)) {
        bytes += Double(count)
        if observed.isBurst { burstTime += observed.time } else { steadyBytes += Double(count) }
    }

    /// Returns the speed of all connections together since `former`, without the bursts.
    /// - Parameter elapsed: The seconds since `former`.
    func speed(since former: TransferSums, over elapsed: Double, connections: Int) -> Double {
        let bursts = (burstTime - former.burstTime) / Double(max(1, connections))
        return (steadyBytes - former.steadyBytes) / max(elapsed - bursts, elapsed / 2)
    }
}
