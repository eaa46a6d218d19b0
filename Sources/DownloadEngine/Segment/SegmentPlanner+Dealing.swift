import DownloadCore

/// The ways in which a connection without work takes a range from another connection.
extension SegmentPlanner {
    /// The minimum gain in seconds that makes it worth while to take a range: `uncut` for a range that was not
    /// requested yet, and `cut` for a part of the range of a running request.
    private static let leastWon = (uncut: 0.01, cut: 0.05)
    /// The minimum size in bytes of a range that is taken, with the same two cases. A smaller range is not worth a
    /// request.
    private static let leastGiven: (uncut: Int64, cut: Int64) = (64 << 10, 16 << 10)
    /// The part of its range that the giving connection keeps: the bytes that it brings within `time` seconds, but at
    /// least `bytes`. With a smaller part, the connection could already fetch bytes of the given range before the cut
    /// takes effect.
    private static let margin = (time: 0.05, bytes: 16_384.0)
    /// An offer counts only if it has at least this fraction of the bytes of the largest offer. Among the offers that
    /// count, the planner takes the one of the connection that would need the longest time for its range.
    private static let nearly = 0.25

    /// The number of requested bytes that a stalled connection keeps, in case it continues.
    private static let reserve = Int64(BufferPool.bufferSize)

    /// The time in seconds without a byte after which a connection is stalled.
    private var stallTime: Double { max(0.7, 3 * (latency.fresh ?? 0)) }
    /// The time in seconds without a byte after which a connection is quiet. While other work is left, no part of the
    /// running request of a quiet connection is given to another connection. A connection that finds no other work
    /// treats a quiet connection as stalled.
    private var quietTime: Double { max(0.25, 1.5 * (latency.fresh ?? 0)) }
    /// The time in seconds without a byte after which a duplicate connection gives up.
    private var replacedTime: Double { 4 * stallTime }

    /// Gives a range to a connection without work. Returns false if there is nothing left for the connection.
    mutating func deal(to index: Int) -> Bool {
        if let gap = free.ranges.first {
            let part = ramp.target > 1 ? spool?.part(of: gap, upTo: piece) ?? gap : gap
            if !part.isEmpty {
                free.remove(part)
                take(part, index)
                return true
            }
            if spool?.readerWaits != true { return false }
        }
        return takeFromStill(index, for: stallTime) || split(for: index) || takeFromStill(index, for: quietTime)
            || standIn(index)
    }

    private mutating func take(_ range: Range<Int64>, _ index: Int) {
        connections[index].position = range.lowerBound
        connections[index].end = range.upperBound
        connections[index].leaseEnd = range.lowerBound
    }

    // MARK: The window of a stream

    /// The maximum length of a range that one of several connections gets at once. It is short, so that the bytes come
    /// nearly in order. All connections together have half of the window.
    private var piece: Int64 { max(Self.crumb, (spool?.size ?? .max) / Int64(2 * ramp.target)) }

    /// Whether no further bytes may be requested before the reader has taken some. The speeds of the connections say
    /// nothing about the network then.
    var isFull: Bool {
        guard let spool else { return false }
        return spool.isFull(from: free.ranges.first?.lowerBound ?? connections.map(\.position).max() ?? 0)
    }

    /// Takes from the connection that was alone what several connections bring sooner.
    mutating func trim() {
        guard spool != nil, ramp.target > 1 else { return }
        for index in connections.indices where sharedStart(of: connections[index]) == nil {
            let connection = connections[index]
            let next = connection.position + piece
            let end = connection.leaseEnd - connection.position > 4 * piece ? next : max(next, connection.leaseEnd)
            guard end < connection.end else { continue }
            free.insert(end..<connection.end)
            connections[index].end = end
        }
    }

    // MARK: Running connections

    /// Returns the time in seconds until the end of the file if the work were divided so that all connections end at
    /// the same moment. Also returns the speed that is assumed for a connection without a measured speed.
    private func outlook(with index: Int, fresh: Double) -> (assumed: Double, time: Double) {
        let known = connections.compactMap(\.pace.speed.value).filter { $0 > 0 }
        let assumed = known.isEmpty ? 1 : known.reduce(0, +) / Double(known.count)
        // Connections that are about to be opened are included.
        var speed = Double(max(0, ramp.target - connections.count)) * assumed
        // The wait for a first byte is counted as the bytes that the connection could have fetched in that time.
        var left = speed * fresh
        for other in connections.indices {
            let own = connections[other].pace.speed.low ?? assumed
            speed += own
            left += own * wait(of: connections[other], fresh)
            if other != index { left += Double(connections[other].left) }
        }
        return (assumed, left / max(speed, 1e-9))
    }

    /// Returns the seconds to the first byte of the connection's running or next request.
    private func wait(of connection: PlannedConnection, _ fresh: Double) -> Double {
        let whole = connection.isFresh ? fresh : latency.kept ?? fresh / 2
        if !connection.isAsked { return whole }
        return connection.pace.answer == nil ? max(0, whole - (now - connection.pace.seen)) : 0
    }

    /// A range that one connection may take from another.
    private struct Offer {
        let other: Int
        /// The time in seconds that the other connection needs for its whole range.
        let rest: Double
        let give: Int64
        /// Whether a part of the range was already requested.
        let isCut: Bool
    }

    /// The connection that takes a range, with the values for computing all offers.
    private struct Taker {
        let index: Int
        let speed: Double
        /// The time in seconds until its first byte comes.
        let wait: Double
        let fresh: Double
        /// The seconds until the end of the file if all connections ended at the same moment.
        let common: Double
        let assumed: Double
        let isTimed: Bool
    }

    private mutating func split(for index: Int) -> Bool {
        let isTimed = connections.contains { $0.pace.speed.value != nil }
        let fresh = isTimed ? latency.fresh ?? 0 : 0
        let (assumed, common) = outlook(with: index, fresh: fresh)
        let taker = Taker(
            index: index, speed: max(connections[index].pace.speed.value ?? assumed, assumed / 10, 1e-9),
            wait: wait(of: connections[index], fresh), fresh: fresh, common: common, assumed: assumed, isTimed: isTimed)
        let offers = connections.indices.compactMap { $0 == index ? nil : offer(of: $0, to: taker) }
        let most = Double(offers.map(\.give).max() ?? 0)
        guard let best = offers.filter({ Double($0.give) >= Self.nearly * most }).max(by: { $0.rest < $1.rest }) else {
            return false
        }
        let end = connections[best.other].end
        var begin = end - best.give
        // The cut is at a multiple of the buffer size, so that whole buffers are written on both sides.
        if best.give >= Self.crumb { begin -= begin % Int64(BufferPool.bufferSize) }
        let victim = connections[best.other]
        begin = max(begin, best.isCut ? victim.position : max(victim.position, victim.leaseEnd))
        connections[best.other].end = begin
        take(begin..<end, index)
        return true
    }

    private func offer(of other: Int, to taker: Taker) -> Offer? {
        let victim = connections[other]
        if victim.isClosing || sharedStart(of: victim) != nil { return nil }
        let speed = max(victim.pace.speed.low ?? taker.assumed, 1e-9)
        // The other connection has probably brought more bytes since its position was last reported.
        let left =
            Double(victim.left) - (victim.isAsked ? min(speed * (now - victim.pace.seen), Double(victim.left)) : 0)
        let rest = left / speed
        let together = (left + taker.speed * taker.wait) / (speed + taker.speed)
        let margin = max(Self.margin.bytes, speed * Self.margin.time)
        var share = min(taker.speed * max(0, min(together, taker.common) - taker.wait), left - margin)
        if connections.count >= ramp.target, taker.common > together, taker.speed > speed {
            // The faster connection takes all that it can fetch before the common end. With less, it would have to take
            // another range before the end, and would be idle for a round trip.
            let whole = taker.speed * max(0, taker.common - taker.wait)
            share = max(share, min(whole, left - max(margin, speed * 6 * taker.wait)))
        }
        var give = Int64(max(0, share))
        if give > victim.unasked, victim.unasked >= give / 2, victim.unasked >= Self.crumb { give = victim.unasked }
        // A connection that waits for its first byte, or is quiet, keeps its requested bytes. Otherwise two such
        // connections could take the same range from each other again and again.
        if taker.isTimed, give > victim.unasked, victim.pace.answer == nil || isStill(victim, for: quietTime) {
            give = victim.unasked
        }
        let isCut = give > victim.unasked
        guard give >= (isCut ? Self.leastGiven.cut : Self.leastGiven.uncut) else { return nil }
        if taker.isTimed {
            let least = isCut ? max(Self.leastWon.cut, taker.fresh / 4) : max(Self.leastWon.uncut, taker.wait)
            guard rest - together >= least else { return nil }
        } else if isCut && keepsConnections || give < Self.crumb {
            // No speed is known yet, so the running request may be over before it could be cut.
            return nil
        }
        return Offer(other: other, rest: rest, give: give, isCut: isCut)
    }

    // MARK: Stalled connections

    /// Returns whether the connection is stalled: no byte came for the given time. A connection that waits for its
    /// first byte may wait longer if other answers were slow.
    private func isStill(_ connection: PlannedConnection, for time: Double) -> Bool {
        let time = connection.pace.answer == nil ? max(time, min(2 * (latency.longest ?? 0), replacedTime)) : time
        return connection.isAsked && connection.left > 0 && now - connection.pace.moved >= time
    }

    private mutating func takeFromStill(_ index: Int, for time: Double) -> Bool {
        let gifts = connections.indices.compactMap { other in
            other != index && isStill(connections[other], for: time)
                ? gift(of: connections[other]).map { (other: other, range: $0) } : nil
        }
        guard let best = gifts.max(by: { $0.range.count < $1.range.count }) else { return false }
        connections[best.other].end = best.range.lowerBound
        take(best.range, index)
        return true
    }

    /// Returns the range that a stalled connection gives away. This is the range that the connection has not requested
    /// yet. If that range is too small, the connection gives away the rest of its request that is being answered,
    /// except for a small reserve. Nil if nothing can be given away.
    private func gift(of still: PlannedConnection) -> Range<Int64>? {
        if still.isClosing || sharedStart(of: still) != nil { return nil }
        if still.unasked >= Self.leastGiven.uncut { return max(still.position, still.leaseEnd)..<still.end }
        let begin = still.position + Self.reserve
        return still.pace.answer != nil && still.end - begin >= Self.leastGiven.uncut ? begin..<still.end : nil
    }

    /// Assigns the range of a quiet connection to a second connection as well.
    private mutating func standIn(_ index: Int) -> Bool {
        guard !isExhausted,
            let other = connections.indices.first(where: {
                $0 != index && !connections[$0].isClosing && connections[$0].duplicatedBy == nil
                    && isStill(connections[$0], for: quietTime)
            })
        else { return false }
        take(connections[other].position..<connections[other].end, index)
        connections[index].duplicates = connections[other].id
        connections[index].duplicatedFrom = connections[other].position
        connections[other].duplicatedBy = connections[index].id
        return true
    }

    /// Decides between connections that have requested the same range. The first one that brings bytes continues, and
    /// the others are cut where they are.
    mutating func settleDuplicates() {
        while let index = connections.indices.first(where: { isDecided(connections[$0]) }) {
            let duplicate = connections[index]
            guard let other = duplicate.duplicates, let victim = self.index(of: other) else { return }
            if duplicate.position > connections[victim].position {
                connections[victim].end = connections[victim].position
                connections[victim].isSuperseded = true
                unlink(victim)
            } else {
                connections[index].end = duplicate.position
                connections[index].isSuperseded = true
                unlink(index)
            }
        }
    }

    private func isDecided(_ duplicate: PlannedConnection) -> Bool {
        guard let other = duplicate.duplicates, let victim = index(of: other) else { return false }
        return duplicate.position > connections[victim].position
            || connections[victim].position > duplicate.duplicatedFrom || isStill(duplicate, for: replacedTime)
    }

    /// Returns the first offset of the range that this connection shares with its duplicates. Returns nil if the
    /// connection has no duplicates.
    func sharedStart(of connection: PlannedConnection) -> Int64? {
        if connection.duplicates != nil { return connection.duplicatedFrom }
        return connection.duplicatedBy.flatMap(index).map { connections[$0].duplicatedFrom }
    }

    /// Unlinks a connection from its duplicates. The other connections stay linked with each other.
    mutating func unlink(_ index: Int) {
        let (before, after) = (connections[index].duplicates, connections[index].duplicatedBy)
        if let before, let first = self.index(of: before) { connections[first].duplicatedBy = after }
        if let after, let second = self.index(of: after) { connections[second].duplicates = before }
        (connections[index].duplicates, connections[index].duplicatedBy) = (nil, nil)
    }
}
