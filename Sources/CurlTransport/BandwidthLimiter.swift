import DownloadCore

/// A hierarchical token bucket (docs/internals/engine.md, "Limits"). Each rate limit applies to all members below it.
/// A member, for example a transfer, gets its bytes at once if each of its limits has them all and no member waits
/// there. Otherwise it waits. The limiter has no clock; callers pass the time, in ms. The rates are read from the
/// limits each time they are used, so a changed rate applies at once. A limit without a rate only groups members.
struct BandwidthLimiter<Member: Hashable> {
    private struct Leaf {
        /// The limits of the member, from the outermost to the innermost.
        let path: [RateLimit]
        /// The bytes that were taken from every limit of the path and are not used yet.
        var credit = 0.0
        /// The time at which the credit last grew, in ms.
        var dealt: Int64
        var wait: Wait?
        /// Whether the member may take its credit even if it is less than the requested bytes. This is so after a wait
        /// or a `giveBack`.
        var isReleased = false
    }

    private struct Wait {
        let count: Double
        let since: Int64
        var bucket: ObjectIdentifier
    }

    private(set) var buckets: [ObjectIdentifier: TokenBucket] = [:]
    private var leaves: [Member: Leaf] = [:]
    private var waiting: [Member] = []
    private var sweepsAt = 8

    /// The time in ms that a member waits for all requested bytes. After this time the member takes the bytes that it
    /// has.
    private static var patience: Int64 { 200 }
    /// The time in ms that a member keeps credit that it does not use.
    private static var keeping: Int64 { 100 }

    /// Returns how many of the `count` bytes the member takes now. If the result is 0, the member waits until `deal`
    /// releases the member.
    mutating func take(_ count: Int, for member: Member, under limits: [RateLimit], now: Int64) -> Int {
        var leaf = leaves[member] ?? Leaf(path: limits, dealt: now)
        if leaf.wait != nil { return 0 }
        let wanted = Double(count)
        if leaf.credit < wanted, !(leaf.isReleased && leaf.credit >= 1) {
            var blocker = blocker(of: leaf.path, now: now)
            // If a rate has changed, `blocker(of:now:)` has taken back the member's credit, so it is read again.
            leaf.credit = leaves[member]?.credit ?? leaf.credit
            if blocker == nil {
                let more = min(wanted - leaf.credit, room(in: leaf.path))
                charge(more, to: leaf.path)
                leaf.credit += more
                leaf.dealt = now
                if leaf.credit < wanted { blocker = driest(of: leaf.path) }
            }
            if let blocker {
                leaf.wait = Wait(count: wanted, since: now, bucket: blocker)
                buckets[blocker]?.blocked += 1
                waiting.append(member)
                leaves[member] = leaf
                return 0
            }
        }
        let part = min(count, Int(leaf.credit))
        leaf.credit -= Double(part)
        leaf.isReleased = false
        leaves[member] = leaf
        return part
    }

    /// Undoes a `take` whose bytes were not used. The member can take the bytes again at once.
    mutating func giveBack(_ count: Int, from member: Member, now: Int64) {
        guard var leaf = leaves[member] else { return }
        leaf.credit += Double(count)
        leaf.dealt = now
        leaf.isReleased = true
        leaves[member] = leaf
    }

    /// Shares the bytes that are available now among the waiting members, and releases the members that have enough.
    mutating func deal(now: Int64) {
        for id in Array(buckets.keys) { refill(id, now: now) }
        takeBack { $0.wait == nil && now - $0.dealt >= Self.keeping }
        share(.infinity, among: branches(of: waiting, level: 0), now: now)
        for id in buckets.keys { buckets[id]?.blocked = 0 }
        waiting = waiting.filter { !release($0, now: now) }
    }

    /// Ends the wait of the member if the member has enough credit, or has waited long enough. Otherwise records the
    /// limit that the member waits for. Returns whether the member no longer waits.
    private mutating func release(_ member: Member, now: Int64) -> Bool {
        guard var leaf = leaves[member], let wait = leaf.wait else { return true }
        let hasWaited = now - wait.since >= Self.patience && leaf.credit >= 1
        if leaf.credit >= wait.count || hasWaited {
            leaf.wait = nil
            leaf.isReleased = true
        } else {
            let bucket = driest(of: leaf.path)
            leaf.wait?.bucket = bucket
            buckets[bucket]?.blocked += 1
        }
        leaves[member] = leaf
        return leaf.wait == nil
    }

    func isWaiting(_ member: Member) -> Bool { leaves[member]?.wait != nil }

    /// Removes a member that has ended. Credit that the member did not use goes back to the limits.
    mutating func forget(_ member: Member) {
        guard let leaf = leaves.removeValue(forKey: member) else { return }
        charge(-leaf.credit, to: leaf.path)
        if let wait = leaf.wait {
            buckets[wait.bucket]?.blocked -= 1
            waiting.removeAll { $0 == member }
        }
        sweep()
    }
}

// MARK: The limits

extension BandwidthLimiter {
    /// Returns the outermost limit that has no bytes left, or that other members already wait for; nil if there is
    /// none. Refills the buckets of the path.
    private mutating func blocker(of path: [RateLimit], now: Int64) -> ObjectIdentifier? {
        var blocker: ObjectIdentifier?
        for limit in path {
            let id = ObjectIdentifier(limit)
            if let rate = limit.bytesPerSecond, buckets[id] == nil {
                buckets[id] = TokenBucket(limit, rate: rate, now: now)
            }
            refill(id, now: now)
            if blocker == nil, let bucket = buckets[id], bucket.isDry || bucket.blocked > 0 { blocker = id }
        }
        return blocker
    }

    private mutating func refill(_ id: ObjectIdentifier, now: Int64) {
        guard let limit = buckets[id]?.limit else { return }
        guard let rate = limit.bytesPerSecond else {
            buckets[id] = nil
            return
        }
        guard buckets[id]?.refill(rate: rate, now: now) == true else { return }
        // Credit from the old rate may be worth many seconds at the new rate.
        takeBack { $0.path.contains(limit) }
    }

    private mutating func takeBack(where isTaken: (Leaf) -> Bool) {
        for index in leaves.values.indices where leaves.values[index].credit > 0 && isTaken(leaves.values[index]) {
            let leaf = leaves.values[index]
            leaves.values[index].credit = 0
            charge(-leaf.credit, to: leaf.path)
        }
    }

    private mutating func charge(_ amount: Double, to path: [RateLimit]) {
        for limit in path { buckets[ObjectIdentifier(limit)]?.take(amount) }
    }

    /// Returns the number of bytes that every limit of the path can give.
    private func room(in path: [RateLimit]) -> Double {
        path.reduce(.infinity) { min($0, buckets[ObjectIdentifier($1)]?.tokens ?? .infinity) }
    }

    /// Returns the limit that the members of this path wait for: the outermost limit without bytes, otherwise the
    /// limit with the fewest bytes.
    private func driest(of path: [RateLimit]) -> ObjectIdentifier {
        let ids = path.map(ObjectIdentifier.init)
        let least = ids.filter { buckets[$0] != nil }.min { tokens($0) < tokens($1) }
        return ids.first { buckets[$0]?.isDry == true } ?? least ?? ids[0]
    }

    private func tokens(_ id: ObjectIdentifier) -> Double { buckets[id]?.tokens ?? .infinity }

    /// Removes the buckets of limits that nothing else refers to any more.
    private mutating func sweep() {
        guard buckets.count >= sweepsAt else { return }
        for id in Array(buckets.keys) where isUnused(id) { buckets[id] = nil }
        sweepsAt = max(8, buckets.count * 2)
    }

    private mutating func isUnused(_ id: ObjectIdentifier) -> Bool {
        guard let index = buckets.index(forKey: id) else { return false }
        return isKnownUniquelyReferenced(&buckets.values[index].limit)
    }
}

// MARK: Dealing

extension BandwidthLimiter {
    /// A waiting member, or a limit with the waiting members below it.
    private enum Branch {
        case leaf(Member)
        case limit(ObjectIdentifier, [Branch])
    }

    private func branches(of members: [Member], level: Int) -> [Branch] {
        var result: [Branch] = []
        var groups: [ObjectIdentifier: [Member]] = [:]
        var order: [ObjectIdentifier] = []
        for member in members {
            guard let path = leaves[member]?.path else { continue }
            guard level < path.count else {
                result.append(.leaf(member))
                continue
            }
            let id = ObjectIdentifier(path[level])
            if groups[id] == nil { order.append(id) }
            groups[id, default: []].append(member)
        }
        return result + order.map { .limit($0, branches(of: groups[$0] ?? [], level: level + 1)) }
    }

    /// Shares `amount` bytes evenly among the branches. Bytes that some branches cannot use go to the others. Returns
    /// the number of bytes that were used.
    @discardableResult
    private mutating func share(_ amount: Double, among branches: [Branch], now: Int64) -> Double {
        var open = branches
        var used = 0.0
        while !open.isEmpty, amount - used > 0 {
            let part = (amount - used) / Double(open.count)
            let before = open.count
            open = open.filter { branch in
                let taken = give(part, to: branch, now: now)
                used += taken
                return part.isFinite && taken >= part * 0.999
            }
            if open.count == before { break }
        }
        return used
    }

    private mutating func give(_ amount: Double, to branch: Branch, now: Int64) -> Double {
        switch branch {
        case .limit(let id, let below):
            let tokens = tokens(id)
            return tokens < 1 ? 0 : share(min(amount, tokens), among: below, now: now)
        case .leaf(let member):
            guard var leaf = leaves[member], let wait = leaf.wait else { return 0 }
            // An infinite amount means that no limit of the path has a rate any more. The member gets all that it
            // asked for.
            let amount = amount.isFinite ? amount : max(0, wait.count - leaf.credit)
            leaf.credit += amount
            leaf.dealt = now
            leaves[member] = leaf
            charge(amount, to: leaf.path)
            return amount
        }
    }
}
