/// Who has nothing to do takes from the others.
extension SegmentPlanner {
    /// Seconds that must be won by taking from another.
    private static let leastWon = (uncut: 0.01, cut: 0.05)
    /// A request for less is not worth its head.
    private static let leastGiven: (uncut: Int64, cut: Int64) = (64 << 10, 16 << 10)
    /// What the one taken from brings in so many seconds, and at least so much, stays with it: a cut must come before
    /// the bytes do.
    private static let margin = (time: 0.05, bytes: 16_384.0)
    /// Of those that can give so much of what the best can, the slowest gives.
    private static let nearly = 0.25

    /// So much of its lease is left with one that stands still, for the case that it goes on.
    private static let reserve = Int64(BufferPool.bufferSize)

    /// Without a byte for so long, a connection is stalled.
    private var stallTime: Double { max(0.7, 3 * (latency.fresh ?? 0)) }
    /// Without one for so long, it is not cut to share with others; who finds nothing else to do takes it for stalled.
    private var quietTime: Double { max(0.25, 1.5 * (latency.fresh ?? 0)) }
    /// Without one for so long, a connection that was asked in place of another gives that up.
    private var replacedTime: Double { 4 * stallTime }

    /// Gives a connection without work a territory; false when there is nothing for it.
    mutating func deal(to index: Int) -> Bool {
        if let gap = free.ranges.first {
            free.remove(gap)
            take(gap, index)
            return true
        }
        return takeFromStill(index, for: stallTime) || split(for: index) || takeFromStill(index, for: quietTime)
            || standIn(index)
    }

    private mutating func take(_ range: Range<Int64>, _ index: Int) {
        connections[index].position = range.lowerBound
        connections[index].end = range.upperBound
        connections[index].leaseEnd = range.lowerBound
    }

    // MARK: Those that run

    /// How long all have to do until they end together; and how fast one is that nobody has seen yet.
    private func outlook(with index: Int, fresh: Double) -> (assumed: Double, time: Double) {
        let known = connections.compactMap(\.speed.value).filter { $0 > 0 }
        let assumed = known.isEmpty ? 1 : known.reduce(0, +) / Double(known.count)
        // Those that are about to be opened, too.
        var speed = Double(max(0, ramp.target - connections.count)) * assumed
        // Who waits for its first byte does nothing meanwhile, as if it had that much more to do.
        var left = speed * fresh
        for other in connections.indices {
            let own = connections[other].speed.low ?? assumed
            speed += own
            left += own * wait(of: connections[other], fresh)
            if other != index { left += Double(connections[other].left) }
        }
        return (assumed, left / max(speed, 1e-9))
    }

    /// Seconds to the first byte of what it is, or was, asked for.
    private func wait(of connection: PlannedConnection, _ fresh: Double) -> Double {
        let whole = connection.isFresh ? fresh : latency.kept ?? fresh / 2
        if !connection.isAsked { return whole }
        return connection.answer == nil ? max(0, whole - (now - connection.seen)) : 0
    }

    /// What one connection may take from another.
    private struct Offer {
        let other: Int
        /// Seconds the other would need for all it has.
        let rest: Double
        let give: Int64
        /// Some of it was asked for.
        let isCut: Bool
    }

    /// The one that takes, as all offers see it.
    private struct Taker {
        let index: Int
        let speed: Double
        /// Seconds to its first byte.
        let wait: Double
        let fresh: Double
        /// Seconds until all end together.
        let common: Double
        let assumed: Double
        let isTimed: Bool
    }

    private mutating func split(for index: Int) -> Bool {
        let isTimed = connections.contains { $0.speed.value != nil }
        let fresh = isTimed ? latency.fresh ?? 0 : 0
        let (assumed, common) = outlook(with: index, fresh: fresh)
        let taker = Taker(
            index: index, speed: max(connections[index].speed.value ?? assumed, assumed / 10, 1e-9),
            wait: wait(of: connections[index], fresh), fresh: fresh, common: common, assumed: assumed, isTimed: isTimed)
        let offers = connections.indices.compactMap { $0 == index ? nil : offer(of: $0, to: taker) }
        let most = Double(offers.map(\.give).max() ?? 0)
        guard let best = offers.filter({ Double($0.give) >= Self.nearly * most }).max(by: { $0.rest < $1.rest }) else {
            return false
        }
        let end = connections[best.other].end
        var begin = end - best.give
        // Whole buffers are written on both sides of it.
        if best.give >= Self.crumb { begin -= begin % Int64(BufferPool.bufferSize) }
        let victim = connections[best.other]
        begin = max(begin, best.isCut ? victim.position : max(victim.position, victim.leaseEnd))
        connections[best.other].end = begin
        take(begin..<end, index)
        return true
    }

    private func offer(of other: Int, to taker: Taker) -> Offer? {
        let victim = connections[other]
        if sharedStart(of: victim) != nil { return nil }
        let speed = max(victim.speed.low ?? taker.assumed, 1e-9)
        // It has moved since it was last looked at.
        let left = Double(victim.left) - (victim.isAsked ? min(speed * (now - victim.seen), Double(victim.left)) : 0)
        let rest = left / speed
        let together = (left + taker.speed * taker.wait) / (speed + taker.speed)
        let margin = max(Self.margin.bytes, speed * Self.margin.time)
        var share = min(taker.speed * max(0, min(together, taker.common) - taker.wait), left - margin)
        if connections.count >= ramp.target, taker.common > together, taker.speed > speed {
            // The faster one should not have to come again before the end: each time its line is idle.
            let whole = taker.speed * max(0, taker.common - taker.wait)
            share = max(share, min(whole, left - max(margin, speed * 6 * taker.wait)))
        }
        var give = Int64(max(0, share))
        if give > victim.unasked, victim.unasked >= give / 2, victim.unasked >= Self.crumb { give = victim.unasked }
        // Two that wait for their first byte could take the same from each other, again and again.
        if taker.isTimed, give > victim.unasked, victim.answer == nil || isStill(victim, for: quietTime) {
            give = victim.unasked
        }
        let isCut = give > victim.unasked
        guard give >= (isCut ? Self.leastGiven.cut : Self.leastGiven.uncut) else { return nil }
        if taker.isTimed {
            let least = isCut ? max(Self.leastWon.cut, taker.fresh / 4) : max(Self.leastWon.uncut, taker.wait)
            guard rest - together >= least else { return nil }
        } else if isCut && keepsConnections || give < Self.crumb {
            // What runs may be over before it could be cut.
            return nil
        }
        return Offer(other: other, rest: rest, give: give, isCut: isCut)
    }

    // MARK: Those that stand still

    /// Who waits for a first byte may wait longer, where others had to.
    private func isStill(_ connection: PlannedConnection, for time: Double) -> Bool {
        let time = connection.answer == nil ? max(time, min(2 * slowestAnswer, replacedTime)) : time
        return connection.isAsked && connection.left > 0 && now - connection.moved >= time
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

    /// What it has not asked for; else, of what comes no more, all but a little.
    private func gift(of still: PlannedConnection) -> Range<Int64>? {
        if sharedStart(of: still) != nil { return nil }
        if still.unasked >= Self.leastGiven.uncut { return max(still.position, still.leaseEnd)..<still.end }
        let begin = still.position + Self.reserve
        return still.answer != nil && still.end - begin >= Self.leastGiven.uncut ? begin..<still.end : nil
    }

    /// What one that stands still was asked for, once more.
    private mutating func standIn(_ index: Int) -> Bool {
        guard !isExhausted,
            let other = connections.indices.first(where: {
                $0 != index && connections[$0].duplicatedBy == nil && isStill(connections[$0], for: quietTime)
            })
        else { return false }
        take(connections[other].position..<connections[other].end, index)
        connections[index].duplicates = connections[other].id
        connections[index].duplicatedFrom = connections[other].position
        connections[other].duplicatedBy = connections[index].id
        return true
    }

    /// Of those that were asked for the same, the first to bring something goes on; the others are cut where they are.
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

    /// Where those begin that were asked for the same as this one.
    func sharedStart(of connection: PlannedConnection) -> Int64? {
        if connection.duplicates != nil { return connection.duplicatedFrom }
        return connection.duplicatedBy.flatMap(index).map { connections[$0].duplicatedFrom }
    }

    /// It has to do with the others no more; they still do the same.
    mutating func unlink(_ index: Int) {
        let (before, after) = (connections[index].duplicates, connections[index].duplicatedBy)
        if let before, let first = self.index(of: before) { connections[first].duplicatedBy = after }
        if let after, let second = self.index(of: after) { connections[second].duplicates = before }
        (connections[index].duplicates, connections[index].duplicatedBy) = (nil, nil)
    }
}
