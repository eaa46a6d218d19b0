/// Decides which connection is closed so that a new one takes its place: one that has stopped, or one that is much
/// slower than the others. A new connection may reach another server, or take another way.
struct ConnectionRenewal: Sendable {
    /// The seconds without a byte after which a connection is renewed. They double with each renewal, up to a limit, and
    /// begin again when no connection was renewed for a while.
    private var patience = Self.leastPatience
    private var last = -Double.infinity
    /// The patience with a connection that is the only one left and has no answer yet. It doubles in the same way.
    private var patienceAlone = Self.leastPatience

    private static let leastPatience = 1.5
    private static let mostPatience = 24.0
    /// The fraction of the middle speed of the others below which a connection is slow.
    private static let slow = 0.2
    /// The seconds after its first byte for which a connection is not slow yet.
    private static let leastAge = 2.0
    /// The seconds that a slow connection must still need for its range.
    private static let leastLeft = 3.0

    /// Returns the index of the connection to close, if there is one.
    /// - Parameter slowestAnswer: The longest time to the first byte of an answer, in seconds. Nil if none has come: then
    ///   nothing says that the server is not slow, and only the stall timeout ends a request.
    mutating func choose(_ connections: [PlannedConnection], slowestAnswer: Double?, at now: Double) -> Int? {
        guard let slowestAnswer, now >= last + 0.5 else { return nil }
        if now > last + 4 * patience { patience = Self.leastPatience }
        let isAlone = connections.count == 1 && connections[0].pace.firstAnswer == nil
        if !isAlone { patienceAlone = Self.leastPatience }
        guard
            let chosen = connections.indices.first(where: {
                isSilent(connections[$0], slowestAnswer, connections, isAlone, now)
                    || now >= last + patience && isSlow(connections[$0], connections, now)
            })
        else { return nil }
        last = now
        patience = min(2 * patience, Self.mostPatience)
        if isAlone { patienceAlone = min(2 * patienceAlone, Self.mostPatience) }
        return chosen
    }

    /// Whether a connection brings nothing while another one does, or was left alone without having been answered.
    private func isSilent(
        _ connection: PlannedConnection, _ slowestAnswer: Double, _ all: [PlannedConnection], _ isAlone: Bool,
        _ now: Double
    ) -> Bool {
        guard connection.hasOwnRequest, connection.left >= (isAlone ? 1 : SegmentPlanner.crumb) else { return false }
        let wait = max(2 * (isAlone ? patienceAlone : patience), 4 * slowestAnswer)
        guard now - connection.pace.moved >= (connection.pace.answer == nil ? wait : patience) else { return false }
        return isAlone
            || all.contains { $0.id != connection.id && $0.pace.answer != nil && now - $0.pace.moved < 0.5 * patience }
    }

    private func isSlow(_ connection: PlannedConnection, _ all: [PlannedConnection], _ now: Double) -> Bool {
        guard connection.hasOwnRequest, connection.left >= SegmentPlanner.crumb,
            let first = connection.pace.firstAnswer, now - first >= Self.leastAge,
            let speed = connection.pace.speed.value,
            speed * Self.leastLeft < Double(connection.left)
        else { return false }
        let others = all.filter { $0.id != connection.id && !$0.isClosing }.compactMap(\.pace.speed.low).sorted()
        return !others.isEmpty && speed < Self.slow * others[others.count / 2]
    }
}
