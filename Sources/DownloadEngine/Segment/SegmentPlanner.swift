import DownloadCore

/// The planner of the connections of one download. It decides which connection fetches which range, and how many
/// connections there are. It is a value: the attempt reports events with their times, and the planner answers with
/// decisions.
///
/// Each connection has a territory, [position, end), which is the range that it has to fetch. It requests its territory
/// in parts, which are called leases (docs/internals/attempt.md).
package struct SegmentPlanner: Sendable {
    package enum Event: Sendable, Equatable {
        /// A request has ended.
        /// - Parameter position: The offset up to which the bytes of the request can be trusted.
        case ended(Int, position: Int64, Ending)
        case tick
    }

    package enum Ending: Sendable, Equatable {
        /// The answer is complete, even if it is shorter than the request. Its connection can be used again.
        case complete
        /// The request ended where a decision cut it.
        case cut
        case lost
        /// The server refuses more connections (429, 503).
        case refused
        /// The answer was something other than the requested bytes. No more connections are opened.
        case unfit
    }

    package enum Decision: Sendable, Equatable {
        /// Request a range. If the connection is new to the planner, open it.
        case ask(connection: Int, range: Range<Int64>)
        /// Request a range that another connection has requested but does not bring. The first of the two connections
        /// that brings bytes continues.
        case duplicate(connection: Int, range: Range<Int64>, of: Int)
        /// End the request at this offset, which may be after the offset of an earlier cut.
        case cut(connection: Int, at: Int64)
    }

    var connections: [PlannedConnection] = []
    /// The missing bytes that belong to no connection's territory.
    var free: ByteRanges
    var ramp: ConnectionRamp
    var now: Double
    /// The shortest measured time in seconds from a request to the first byte of its answer, on a new connection and on
    /// an open one, and the longest of these times.
    var latency: (fresh: Double?, kept: Double?, longest: Double?) = (nil, nil, nil)
    private var nextConnection: Int
    /// Open connections without work. They are used before new ones are opened.
    private var parked: [PlannedConnection] = []
    /// Whether the last additional connection found nothing to do, because all remaining bytes belong to running
    /// connections.
    private var isShared = false
    private var sums = TransferSums()
    private var renewal = ConnectionRenewal()
    var addresses: AddressSearch
    /// The part of the file that may be requested now; nil for the whole file.
    var spool: StreamWindow?
    private var budget: RequestBudget
    private let begun: Double
    /// Whether a connection can be used again when its request ends. If not, each request is for the whole territory. A
    /// cut of such a request costs no more than its end, because both close the connection.
    let keepsConnections: Bool

    /// - Parameters:
    ///   - missing: The bytes to fetch, including those that the first request is about to bring.
    ///   - first: The connection of the running request, with the rest of the requested range.
    ///   - wish: The requested number of connections, or nil for an automatic number.
    ///   - fruitlessLimit: The number of requests without progress after which connections that bring nothing are not
    ///     used again.
    ///   - start: The number of connections at the beginning, if one connection is not enough.
    ///   - mayChooseAddress: Whether the connections may use all addresses of the server's name.
    package init(
        missing: ByteRanges, first: (connection: Int, lease: Range<Int64>)?, wish: Int?,
        automaticLimit: Int = automaticLimit, knowledge: HostKnowledge? = nil, fruitlessLimit: Int = 5, start: Int = 1,
        keepsConnections: Bool = true, mayChooseAddress: Bool = false, now: Double
    ) {
        free = missing
        addresses = AddressSearch(isWanted: mayChooseAddress)
        self.keepsConnections = keepsConnections
        self.now = now
        budget = RequestBudget(limit: fruitlessLimit)
        begun = now
        ramp = ConnectionRamp(
            wish: wish, limit: automaticLimit, size: missing.count, knowledge: knowledge, start: start, now: now)
        nextConnection = (first?.connection ?? -1) + 1
        guard let first, !first.lease.isEmpty else { return }
        var connection = PlannedConnection(id: first.connection, range: first.lease, now: now)
        connection.asked(until: first.lease.upperBound, at: now)
        // The first connection continues where its first lease ends.
        free.remove(first.lease)
        if let gap = free.ranges.first(where: { $0.lowerBound == first.lease.upperBound }) {
            connection.end = gap.upperBound
            free.remove(gap)
        }
        connections.append(connection)
    }

    package var target: Int { ramp.target }
    /// The number of connections that the download has, and the number that it could use if no other download used the
    /// host.
    package var demand: (has: Int, wants: Int) {
        // If the last additional connection found nothing to do, only one additional connection is tried.
        (connections.count, isShared ? min(ramp.wanted, connections.count + 1) : ramp.wanted)
    }
    /// The interval in seconds at which the planner must be told the time and the progress. Nil if they make no
    /// difference.
    package var tickInterval: Double? {
        if ramp.target < ramp.wanted { return Self.heldBackInterval }
        if !ramp.observes { return addresses.observes ? Self.addressInterval : nil }
        return ramp.isTrying ? window / 8 : ramp.wanted > 1 ? 0.2 : 0.4
    }

    /// The number of connections beyond which the speed stopped growing, if measured.
    package var learned: Int? { ramp.hasLearned && !ramp.wasHeldBack ? ramp.wanted : nil }
    package var cap: Int? { ramp.learnedCap }
    package var restraint: String? { ramp.restraint }

    /// Records when the first byte of an answer's body came.
    /// - Parameter after: The seconds since the request.
    package mutating func answered(_ id: Int, after: Double, at time: Double) {
        guard let index = index(of: id) else { return }
        latency.longest = max(latency.longest ?? 0, after)
        if connections[index].isFresh {
            latency.fresh = min(latency.fresh ?? after, after)
        } else {
            latency.kept = min(latency.kept ?? after, after)
        }
        // The probe began before the planner was made, so its first byte may have come earlier.
        connections[index].pace.answered(at: max(time, begun))
        addresses.served(connections[index].address)
    }

    /// Sets the number of connections that the download may have. The number takes effect at the next event.
    package mutating func grant(_ count: Int) { ramp.grant(max(1, count), now: now) }

    /// Records the positions of the running requests. Called before each event.
    package mutating func progress(_ positions: some Sequence<(connection: Int, position: Int64)>, at now: Double) {
        self.now = now
        for (id, position) in positions { move(id, to: position) }
    }

    /// Adds a range that must be fetched again.
    package mutating func restore(_ range: Range<Int64>) { free.insert(range) }

    /// Moves the start of a request to `position`, because the bytes before it have come since the decision.
    package mutating func skip(_ id: Int, to position: Int64) {
        guard let index = index(of: id) else { return }
        connections[index].skip(to: position)
    }

    package mutating func handle(_ event: Event, at now: Double) -> [Decision] {
        self.now = now
        switch event {
        case .ended(let id, let position, let ending): ended(id, position, ending)
        case .tick: break
        }
        settleDuplicates()
        observe()
        trim()
        employ()
        close()
        return reconcile()
    }

    // MARK: Events

    func index(of id: Int) -> Int? { connections.firstIndex { $0.id == id } }

    private mutating func move(_ id: Int, to position: Int64) {
        guard let index = index(of: id) else { return }
        connections[index].move(to: position, at: now, burst: burst, &sums)
    }

    private mutating func ended(_ id: Int, _ position: Int64, _ ending: Ending) {
        move(id, to: position)
        guard let index = index(of: id) else { return }
        var connection = connections[index]
        connection.isAsked = false
        // The position may be smaller than before, because the last bytes that came may not be trusted.
        connection.position = min(position, connection.end)
        if let start = sharedStart(of: connection), connection.position < start {
            // The duplicate requests begin at `start`, so the bytes before it must be fetched again.
            free.insert(connection.position..<start)
            connection.position = start
        }
        connection.isFresh = ending != .complete || !keepsConnections
        connections[index] = connection
        if connection.isClosing, ending != .refused { return dismiss(index) }
        switch ending {
        case .complete:
            // A server that sends nothing for one range may still serve the others.
            if !count(connection), isExhausted { dismiss(index) }
        case .cut: if connection.isSuperseded { count(connection) }
        case .lost:
            count(connection)
            dismiss(index)
        case .unfit:
            dismiss(index)
            ramp.stay(at: open)
        case .refused:
            dismiss(index)
            // If connections are not kept, the server may still count a connection that has just been closed. Then the
            // refusal does not mean that it accepts fewer connections than before.
            let wasServing = keepsConnections && connection.pace.firstAnswer != nil
            ramp.refuse(serving: open, wasServing: wasServing, now: now)
        }
    }

    /// Counts a request that has ended. Returns whether it made progress.
    @discardableResult
    private mutating func count(_ connection: PlannedConnection) -> Bool {
        budget.ended(
            brought: connection.position - connection.start, of: connection.leaseEnd - connection.start)
    }

    /// Whether so many requests brought nothing that no more connections are opened or duplicated.
    var isExhausted: Bool { budget.isExhausted }

    /// Removes a connection. The rest of its territory becomes free, unless a duplicate fetches it.
    mutating func dismiss(_ index: Int) {
        let isLinked = sharedStart(of: connections[index]) != nil
        unlink(index)
        let gone = connections.remove(at: index)
        guard !isLinked, gone.position < gone.end else { return }
        free.insert(gone.position..<gone.end)
    }

    // MARK: The number of connections

    /// The length in seconds of the start of an answer. The bytes of this time say nothing about the speed.
    var burst: Double { window / 5 }
    /// The length in seconds of an observation. It is long enough for several round trips.
    private var window: Double { max(0.2, 8 * (latency.kept ?? latency.fresh.map { $0 / 2 } ?? 0)) }

    private mutating func observe() {
        // Before the first byte of an answer, all speeds are 0, and say nothing about the number of connections.
        guard ramp.observes, latency.longest != nil else { return }
        if isFull { return ramp.rest() }
        let running = connections.filter { $0.isAsked && !$0.isClosing }
        ramp.observe(
            ConnectionRamp.Observation(
                now: now, window: window, isSteady: running.allSatisfy { $0.pace.isSteady(at: now, burst: burst) },
                sums: sums,
                allBrought: { start in running.allSatisfy { $0.pace.steadyMoved > start } },
                left: left))
    }

    /// The number of bytes that have not come yet.
    var left: Int64 { connections.reduce(free.count) { $0 + $1.left } }

    /// The number of connections, without those that are being closed.
    private var open: Int { connections.count { !$0.isClosing } }

    /// Begins to close the slowest connections if there are too many, and one that should be opened again.
    private mutating func close() {
        var surplus = open - ramp.wanted
        while surplus > 0, let slowest = slowest() {
            connections[slowest].isClosing = true
            surplus -= 1
        }
        if isExhausted || isFull { return }
        if let index = addresses.choose(
            connections, left: left, window: window, mayCloseOnly: ramp.restraint == nil && ramp.learnedCap == nil,
            at: now)
        {
            connections[index].isClosing = true
            ramp.measureAgain()
        }
        guard let index = renewal.choose(connections, slowestAnswer: latency.longest, at: now) else { return }
        connections[index].isClosing = true
        // The server may accept a connection beside others and never answer it.
        if connections[index].pace.firstAnswer == nil, open > 0,
            !addresses.fail(connections[index].address, isDeclined: false, at: now)
        {
            ramp.refuse(serving: open, wasServing: false, now: now)
        }
    }

    private func slowest() -> Int? {
        func speed(_ index: Int) -> Double {
            connections[index].pace.answer == nil ? -1 : connections[index].pace.speed.low ?? 0
        }
        return connections.indices.filter { connections[$0].isAsked && !connections[$0].isClosing }
            .min { (speed($0), -$0) < (speed($1), -$1) }
    }

    // MARK: Decisions

    /// Gives work to idle connections, parks connections without work, and opens as many connections as are allowed.
    private mutating func employ() {
        let idle = connections.filter { !$0.isAsked }.map(\.id)
        for id in idle {
            guard let index = index(of: id) else { continue }
            if open > ramp.target || !(connections[index].left > 0 || deal(to: index)) {
                park(index)
            }
        }
        while connections.count < ramp.target, !isExhausted {
            connections.append(parked.popLast() ?? PlannedConnection(id: nextConnection, range: 0..<0, now: now))
            isShared = !deal(to: connections.count - 1)
            let last = connections[connections.count - 1]
            if isShared {
                connections.removeLast()
                if !last.isFresh { parked.append(last) }
                return
            }
            nextConnection = max(nextConnection, last.id + 1)
            if last.isFresh { chooseAddress(connections.count - 1) }
        }
    }

    private mutating func park(_ index: Int) {
        var idle = connections[index]
        dismiss(index)
        if idle.isFresh { return }
        (idle.end, idle.leaseEnd, idle.duplicates, idle.duplicatedBy) = (idle.position, idle.position, nil, nil)
        parked.append(idle)
    }

    /// Lets requests that were cut go on into the range behind the cut, if no connection has this range any more.
    private mutating func extend() -> [Decision] {
        if spool != nil, ramp.target > 1 { return [] }
        return connections.indices.compactMap { index in
            let (connection, end) = (connections[index], connections[index].end)
            guard connection.hasOwnRequest, connection.leaseEnd == end, connection.requestEnd > end,
                let gap = free.ranges.first(where: { $0.lowerBound == end })
            else { return nil }
            free.remove(gap)
            connections[index].end = gap.upperBound
            connections[index].leaseEnd = min(connection.requestEnd, gap.upperBound)
            return .cut(connection: connection.id, at: connections[index].leaseEnd)
        }
    }

    /// Turns the changed territories into requests and cuts.
    private mutating func reconcile() -> [Decision] {
        var decisions = extend()
        for index in connections.indices {
            let connection = connections[index]
            if connection.isAsked, connection.end < connection.leaseEnd {
                connections[index].leaseEnd = connection.end
                decisions.append(.cut(connection: connection.id, at: connection.end))
            } else if connection.isClosing, connection.leaseEnd > connection.position {
                connections[index].leaseEnd = connection.position
                decisions.append(.cut(connection: connection.id, at: connection.position))
            }
        }
        for index in connections.indices where !connections[index].isAsked {
            let range = lease(of: connections[index])
            connections[index].asked(until: range.upperBound, at: now)
            let id = connections[index].id
            decisions.append(
                connections[index].duplicates.map { .duplicate(connection: id, range: range, of: $0) }
                    ?? .ask(connection: id, range: range))
        }
        return decisions
    }

    /// Returns the range of the next request. It is short enough to leave bytes that other connections can take, and
    /// long enough to make the round trips cheap.
    private func lease(of connection: PlannedConnection) -> Range<Int64> {
        let range = connection.position..<connection.end
        if ramp.target == 1 && !ramp.isTrying || !keepsConnections { return range }
        // If the round trip is long, a request that is too short for a fast connection costs more than a cut of a
        // request that is too long.
        var length = (latency.fresh ?? 0) > Self.longWay ? .max : Self.leaseSize
        if let speed = connection.pace.speed.value {
            let trip = latency.kept ?? (latency.fresh ?? 0) / 2
            length = max(
                min(Self.leaseSize, Int64(speed * Self.leaseTime)), Int64(speed * Self.leaseTrips * trip), Self.crumb)
        }
        return Int64(range.count) - Self.crumb < length ? range : range.lowerBound..<range.lowerBound + length
    }

    /// The maximum of an automatic number of connections: as many as a browser opens to a host.
    package static let automaticLimit = 6
    package static let leaseSize: Int64 = 16 << 20
    private static let leaseTime = 8.0
    /// The minimum length of a lease, in round trips. A connection is idle for one round trip between two leases.
    private static let leaseTrips = 128.0
    /// The time to the first byte of an answer, in seconds, above which the round trip counts as long.
    private static let longWay = 0.02
    /// The tick interval in seconds while other downloads have the connections that this download wants. It is long,
    /// because a thousand downloads may wait in this way.
    private static let heldBackInterval = 1.0
    /// The tick interval in seconds of a single connection whose address may be slow.
    private static let addressInterval = 0.5
    /// The size in bytes below which a range is not worth its own request, unless time would be lost.
    static let crumb: Int64 = 1 << 20
}
