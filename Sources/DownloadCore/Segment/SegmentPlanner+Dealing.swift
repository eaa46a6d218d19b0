/// Who has nothing to do takes from the others.
extension SegmentPlanner {
    /// Time that must be won by taking from another: a cut costs a connection, and what is on its way.
    private static let leastWon = (uncut: 0.01, cut: 0.2)
    /// A request for less is not worth its head.
    private static let leastGiven: (uncut: Int64, cut: Int64) = (256 << 10, 64 << 10)
    /// A lease that would be over sooner, or for which a connection must be opened, is cut for nothing less than a crumb.
    private static let leastCutTime = 1.0
    /// Kept by the one taken from, so that a cut comes before the bytes do.
    private static let margin: Int64 = 128 << 10

    /// Without a byte for so long, a connection is stalled.
    private var stallTime: Double { max(3, 10 * (latency.fresh ?? 0)) }

    /// Gives a connection without work a territory; false when there is nothing for it.
    mutating func deal(to index: Int) -> Bool {
        if let gap = free.ranges.first {
            free.remove(gap)
            take(gap, index)
            return true
        }
        return takeFromStalled(index) || split(for: index)
    }

    private mutating func take(_ range: Range<Int64>, _ index: Int) {
        connections[index].position = range.lowerBound
        connections[index].end = range.upperBound
        connections[index].leaseEnd = range.lowerBound
    }

    // MARK: Those that run

    /// How long all have to do until they end together; and how fast one is that nobody has seen yet.
    private func outlook(with index: Int) -> (assumed: Double, time: Double) {
        let known = connections.compactMap(\.speed.value).filter { $0 > 0 }
        let assumed = known.isEmpty ? 1 : known.reduce(0, +) / Double(known.count)
        var left = 0.0
        var speed = connections[index].speed.value ?? assumed
        // Those that are about to be opened, too.
        speed += Double(max(0, ramp.target - connections.count)) * assumed
        for other in connections.indices where other != index {
            left += Double(connections[other].left)
            speed += connections[other].speed.value ?? assumed
        }
        return (assumed, left / max(speed, 1e-9))
    }

    private mutating func split(for index: Int) -> Bool {
        let (assumed, common) = outlook(with: index)
        let own = max(connections[index].speed.value ?? assumed, 1e-9)
        let isTimed = connections.contains { $0.speed.value != nil }
        let fresh = isTimed ? latency.fresh ?? 0 : 0
        let wait = connections[index].isFresh ? fresh : latency.kept ?? fresh / 2
        var best: (other: Int, rest: Double, give: Int64)?
        for other in connections.indices where other != index {
            let victim = connections[other]
            if victim.duplicates != nil || victim.duplicatedBy != nil { continue }
            let speed = max(victim.speed.value ?? assumed, 1e-9)
            // It has moved since it was last looked at.
            let left =
                Double(victim.left) - (victim.isAsked ? min(speed * (now - victim.seen), Double(victim.left)) : 0)
            let rest = left / speed
            let together = (left + own * wait) / (speed + own)
            // With others to come, only what it will do until they all end.
            let until = connections.count < ramp.target ? min(together, common) : together
            let share = own * max(0, until - wait)
            var give = Int64(min(share, left - Double(Self.margin)))
            if give > victim.unasked, victim.unasked >= give / 2, victim.unasked >= Self.crumb {
                give = victim.unasked
            }
            let isCut = give > victim.unasked
            guard give >= (isCut ? Self.leastGiven.cut : Self.leastGiven.uncut) else { continue }
            if isTimed {
                let least = isCut ? max(Self.leastWon.cut, 2 * fresh) : max(Self.leastWon.uncut, wait)
                guard rest - together >= least else { continue }
                let isWorthLess = connections[index].firstAnswer != nil && rest >= Self.leastCutTime
                guard !isCut || give >= Self.crumb || isWorthLess else { continue }
            } else if isCut || give < Self.crumb {
                // What runs may be over before it could be cut.
                continue
            }
            if rest > best?.rest ?? -1 { best = (other, rest, give) }
        }
        guard let best else { return false }
        let end = connections[best.other].end
        var begin = end - best.give
        // Whole buffers are written on both sides of it.
        if best.give >= Self.crumb { begin -= begin % Int64(BufferPool.bufferSize) }
        begin = max(begin, connections[best.other].position)
        connections[best.other].end = begin
        take(begin..<end, index)
        return true
    }

    // MARK: Those that stand still

    private func isStalled(_ connection: PlannedConnection) -> Bool {
        connection.isAsked && connection.left > 0 && now - connection.moved >= stallTime
    }

    /// What it has not asked for, all of it; else the same once more.
    private mutating func takeFromStalled(_ index: Int) -> Bool {
        let stalled = connections.indices.filter {
            $0 != index && isStalled(connections[$0]) && connections[$0].duplicates == nil
        }
        if let other = stalled.max(by: { connections[$0].unasked < connections[$1].unasked }),
            connections[other].unasked > 0
        {
            let victim = connections[other]
            connections[other].end = max(victim.position, victim.leaseEnd)
            take(connections[other].end..<victim.end, index)
            return true
        }
        guard
            let other = stalled.first(where: { connections[$0].duplicatedBy == nil })
        else { return false }
        take(connections[other].position..<connections[other].end, index)
        connections[index].duplicates = connections[other].id
        connections[index].duplicatedFrom = connections[other].position
        connections[other].duplicatedBy = connections[index].id
        return true
    }

    /// Of two that were asked for the same, the first to bring something goes on; the other is cut where it is.
    mutating func settleDuplicates() {
        for index in connections.indices {
            guard let other = connections[index].duplicates, let victim = self.index(of: other) else { continue }
            if connections[index].position > connections[victim].position {
                connections[victim].end = connections[victim].position
            } else if connections[victim].position > connections[index].duplicatedFrom || isStalled(connections[index])
            {
                connections[index].end = connections[index].position
            } else {
                continue
            }
            connections[index].duplicates = nil
            connections[victim].duplicatedBy = nil
        }
    }
}
