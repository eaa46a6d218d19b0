import Foundation

/// Decides which connection fetches what, and how many there are. A value: it is told what happened, and when, and
/// answers with what is to be done.
///
/// Each connection has a territory, [position, end), and asks for it one lease at a time. Who has none left takes some
/// of the one that would be done last, as much as lets all end together: what has not been asked for yet if that is
/// enough, else the lease is cut.
package struct SegmentPlanner: Sendable {
    package enum Event: Sendable, Equatable {
        /// A request is over.
        /// - Parameter position: how far its bytes can be believed.
        case ended(Int, position: Int64, Ending)
        case tick
    }

    package enum Ending: Sendable, Equatable {
        /// The answer is complete, be it shorter than asked for; its connection is of further use.
        case complete
        /// Where a decision cut it.
        case cut
        case lost
        /// The server wants no more of them: 429, 503.
        case refused
        /// Another answer than the bytes that were asked for: no more are opened.
        case unfit
    }

    package enum Decision: Sendable, Equatable {
        /// On a connection that is new to the planner: open one.
        case ask(connection: Int, range: Range<Int64>)
        /// As `ask`, for what a stalled connection does not bring; the first to bring anything goes on.
        case duplicate(connection: Int, range: Range<Int64>, of: Int)
        /// End the request there; it is asked for elsewhere.
        case cut(connection: Int, at: Int64)
    }

    var connections: [PlannedConnection] = []
    /// Nobody's.
    var free: ByteRanges
    var ramp: ConnectionRamp
    var now: Double
    /// Seconds to the first byte of an answer: on a new connection, on one that is open.
    var latency: (fresh: Double?, kept: Double?) = (nil, nil)
    /// So long some answer took, in seconds.
    var slowestAnswer = 0.0
    private var nextConnection: Int
    /// Open still, without anything to do: asked before new ones are opened.
    private var parked: [PlannedConnection] = []
    /// All that is left is with those who run.
    private var isShared = false
    private var steadyBytes = 0.0
    private var losses = 0
    private let lossLimit: Int
    private var budget: RequestBudget
    private let begun: Double
    /// A request that is over leaves a connection behind it that takes the next one. Where it does not, each has all that
    /// it is to bring, and may be cut: that costs no more than its end.
    let keepsConnections: Bool

    /// - Parameters:
    ///   - missing: what is to be fetched, with what the first request is about to bring.
    ///   - first: the request that runs already: its connection, where it is, and what it asked for.
    ///   - wish: how many connections; nil for as many as pay.
    ///   - automaticLimit: the most connections where `wish` is nil.
    ///   - lossLimit: after so many lost connections no others are opened.
    ///   - fruitlessLimit: after so many requests without progress, nobody is asked again who brings nothing.
    ///   - start: so many are worth while at once, unless one is enough.
    package init(
        missing: ByteRanges, first: (connection: Int, lease: Range<Int64>)?, wish: Int?,
        automaticLimit: Int = automaticLimit, knowledge: HostKnowledge? = nil, lossLimit: Int = 5,
        fruitlessLimit: Int = 5, start: Int = 1,
        keepsConnections: Bool = true,
        now: Double
    ) {
        free = missing
        self.keepsConnections = keepsConnections
        self.now = now
        self.lossLimit = lossLimit
        budget = RequestBudget(limit: fruitlessLimit)
        begun = now
        ramp = ConnectionRamp(
            wish: wish, limit: automaticLimit, size: missing.count, knowledge: knowledge, start: start, now: now)
        nextConnection = (first?.connection ?? -1) + 1
        guard let first, !first.lease.isEmpty else { return }
        var connection = PlannedConnection(id: first.connection, range: first.lease, now: now)
        connection.asked(until: first.lease.upperBound, at: now)
        // It goes on where its first lease ends.
        free.remove(first.lease)
        if let gap = free.ranges.first(where: { $0.lowerBound == first.lease.upperBound }) {
            connection.end = gap.upperBound
            free.remove(gap)
        }
        connections.append(connection)
    }

    /// So many connections there may be now.
    package var target: Int { ramp.target }
    /// So many it has, and could use if it were alone with the host.
    package var demand: (has: Int, wants: Int) {
        // Where another found nothing to do, one more is tried, no more.
        (connections.count, isShared ? min(ramp.wanted, connections.count + 1) : ramp.wanted)
    }
    /// Everything has come.
    package var isDone: Bool { connections.isEmpty && free.isEmpty }
    /// How often, in seconds, it wants to hear of time and progress; nil where that makes no difference.
    package var tickInterval: Double? {
        if ramp.target < ramp.wanted { return Self.heldBackInterval }
        return !ramp.isSettled ? window / 8 : ramp.wanted > 1 ? 0.2 : nil
    }

    /// So many connections paid, if that was found out.
    package var learned: Int? { ramp.hasLearned && !ramp.wasHeldBack ? ramp.wanted : nil }
    /// More than so many were refused.
    package var cap: Int? { ramp.cap }

    /// The head of an answer came at a time that may be past.
    /// - Parameter after: seconds since it was asked for.
    package mutating func answered(_ id: Int, after: Double, at time: Double) {
        guard let index = index(of: id) else { return }
        slowestAnswer = max(slowestAnswer, after)
        if connections[index].isFresh {
            latency.fresh = min(latency.fresh ?? after, after)
        } else {
            latency.kept = min(latency.kept ?? after, after)
        }
        // The first request waited for its file.
        connections[index].answered(at: max(time, begun))
    }

    /// So many it may have: heeded at the next event.
    package mutating func grant(_ count: Int) { ramp.grant(max(1, count), now: now) }

    /// How far the requests are: told before each event, of all that run.
    package mutating func progress(_ positions: some Sequence<(connection: Int, position: Int64)>, at now: Double) {
        self.now = now
        for (id, position) in positions { move(id, to: position) }
    }

    /// What was fetched is to be fetched again.
    package mutating func restore(_ range: Range<Int64>) { free.insert(range) }

    /// A connection begins later than decided: what is before that came meanwhile.
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
        employ()
        return reconcile()
    }

    // MARK: What happened

    func index(of id: Int) -> Int? { connections.firstIndex { $0.id == id } }

    private mutating func move(_ id: Int, to position: Int64) {
        guard let index = index(of: id) else { return }
        let steady = connections[index].move(to: position, at: now, burst: burst)
        steadyBytes += Double(steady)
    }

    private mutating func ended(_ id: Int, _ position: Int64, _ ending: Ending) {
        move(id, to: position)
        guard let index = index(of: id) else { return }
        var connection = connections[index]
        connection.isAsked = false
        // Less may be believed of it than came.
        connection.position = min(position, connection.end)
        if let start = sharedStart(of: connection), connection.position < start {
            // The others were asked for what comes after it.
            free.insert(connection.position..<start)
            connection.position = start
        }
        connection.isFresh = ending != .complete || !keepsConnections
        connections[index] = connection
        switch ending {
        case .complete:
            // A server that gives nothing for one part may still serve the others.
            if !hasProgressed(connection), budget.isExhausted { dismiss(index) }
        case .cut: if connection.isSuperseded { _ = hasProgressed(connection) }
        case .lost:
            _ = hasProgressed(connection)
            dismiss(index)
            losses += 1
            if losses > lossLimit { ramp.stay(at: connections.count) }
        case .unfit:
            dismiss(index)
            ramp.stay(at: connections.count)
        case .refused:
            dismiss(index)
            // The one that it has closed the server may still count.
            let wasServing = keepsConnections && connection.firstAnswer != nil
            ramp.refuse(serving: connections.count, wasServing: wasServing, now: now)
        }
    }

    /// Counts a request that is over.
    private mutating func hasProgressed(_ connection: PlannedConnection) -> Bool {
        budget.ended(
            brought: connection.position - connection.start, of: connection.leaseEnd - connection.start)
    }

    /// So many requests brought nothing that no connection is opened, or asked in place of another.
    var isExhausted: Bool { budget.isExhausted }

    /// What it had to do is for anybody, unless another does it already.
    mutating func dismiss(_ index: Int) {
        let isLinked = sharedStart(of: connections[index]) != nil
        unlink(index)
        let gone = connections.remove(at: index)
        if !isLinked, gone.position < gone.end { free.insert(gone.position..<gone.end) }
    }

    // MARK: How many

    /// The beginning of an answer, in seconds, that says nothing about speed.
    var burst: Double { window / 5 }
    /// Long enough for the round trips to tell.
    private var window: Double { max(0.2, 8 * (latency.kept ?? latency.fresh.map { $0 / 2 } ?? 0)) }

    private mutating func observe() {
        guard !ramp.isSettled else { return }
        let running = connections.filter(\.isAsked)
        ramp.observe(
            ConnectionRamp.Observation(
                now: now, window: window, isSteady: running.allSatisfy { $0.isSteady(at: now, burst: burst) },
                bytes: steadyBytes, allBrought: { start in running.allSatisfy { $0.steadyMoved > start } },
                left: running.reduce(free.count) { $0 + $1.left }))
    }

    // MARK: What is to be done

    /// Gives everybody something to do, lets go of those for whom there is nothing, and opens what is allowed.
    private mutating func employ() {
        let idle = connections.filter { !$0.isAsked }.map(\.id)
        for id in idle {
            guard let index = index(of: id) else { continue }
            if connections.count > ramp.target || !(connections[index].left > 0 || deal(to: index)) {
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
        }
    }

    private mutating func park(_ index: Int) {
        var idle = connections[index]
        dismiss(index)
        if idle.isFresh { return }
        idle.leaveAll()
        parked.append(idle)
    }

    /// Turns what has changed into requests and cuts.
    private mutating func reconcile() -> [Decision] {
        var decisions: [Decision] = []
        for index in connections.indices {
            let connection = connections[index]
            if connection.isAsked, connection.end < connection.leaseEnd {
                connections[index].leaseEnd = connection.end
                decisions.append(.cut(connection: connection.id, at: connection.end))
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

    /// Short enough to leave something to take over, long enough to make the round trips cheap.
    private func lease(of connection: PlannedConnection) -> Range<Int64> {
        let range = connection.position..<connection.end
        if ramp.target == 1 && ramp.isSettled || !keepsConnections { return range }
        // Over a long way a lease too short for its line costs more than the cut of one too long.
        var length = (latency.fresh ?? 0) > Self.longWay ? .max : Self.leaseSize
        if let speed = connection.speed.value {
            let trip = latency.kept ?? (latency.fresh ?? 0) / 2
            length = max(
                min(Self.leaseSize, Int64(speed * Self.leaseTime)), Int64(speed * Self.leaseTrips * trip), Self.crumb)
        }
        return Int64(range.count) - Self.crumb < length ? range : range.lowerBound..<range.lowerBound + length
    }

    /// Left to itself, a download has at most so many connections: as many as a browser opens to a host.
    package static let automaticLimit = 6
    package static let leaseSize: Int64 = 16 << 20
    private static let leaseTime = 8.0
    /// A connection is idle for one round trip between two leases.
    private static let leaseTrips = 128.0
    /// Seconds to the first answer.
    private static let longWay = 0.02
    /// A thousand downloads may wait for others to give connections back.
    private static let heldBackInterval = 1.0
    /// Not worth a request of its own, where no time is lost without it.
    static let crumb: Int64 = 1 << 20
}
