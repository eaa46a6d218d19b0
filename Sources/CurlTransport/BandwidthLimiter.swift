import DownloadCore

/// Keeps every rate limit for those under it: a hierarchical token bucket (all, host, download). Pure: time is what it
/// is told, in ms; the rates are read from the limits whenever they matter, so a change counts at once.
///
/// While a limit has bytes, whoever asks gets them. Once it has none, those that ask wait, and what comes in is dealt
/// to them: evenly among the branches below each limit, whatever the number of members in a branch, and what a branch
/// cannot use goes to the others. A limit without a rate only groups.
struct BandwidthLimiter<Member: Hashable> {
    private struct Leaf {
        /// From the outermost limit to the innermost.
        let path: [RateLimit]
        /// Bytes that were taken from every limit above and not used yet.
        var credit = 0.0
        /// When there was last anything dealt to it.
        var dealt: Int64
        var wait: Wait?
        /// It waited long enough: it takes what it has, though it is less than it asked for.
        var isReleased = false
    }

    private struct Wait {
        let count: Double
        let since: Int64
        var bucket: ObjectIdentifier
    }

    private var buckets: [ObjectIdentifier: TokenBucket] = [:]
    private var leaves: [Member: Leaf] = [:]
    private var waiting: [Member] = []
    private var sweepsAt = 8

    /// How long a member waits for all that it asked for; then it takes what it has. In ms.
    private static var patience: Int64 { 200 }
    /// How long a member keeps what it does not use, in ms.
    private static var keeping: Int64 { 100 }

    /// How many of these bytes the member takes now; none: it waits until `deal` has released it.
    mutating func take(_ count: Int, for member: Member, under limits: [RateLimit], now: Int64) -> Int {
        var leaf = leaves[member] ?? Leaf(path: limits, dealt: now)
        if leaf.wait != nil { return 0 }
        let wanted = Double(count)
        if leaf.credit < wanted, !(leaf.isReleased && leaf.credit >= 1) {
            var blocker = blocker(of: leaf.path, now: now)
            // A changed rate takes back what was dealt at the old one.
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

    /// Undoes a `take`: nothing of it was used, and it can be taken again at once.
    mutating func giveBack(_ count: Int, from member: Member, now: Int64) {
        guard var leaf = leaves[member] else { return }
        leaf.credit += Double(count)
        leaf.dealt = now
        leaf.isReleased = true
        leaves[member] = leaf
    }

    /// Deals to those that wait what there is by now.
    mutating func deal(now: Int64) {
        for id in Array(buckets.keys) { refill(id, now: now) }
        takeBackUnused(now: now)
        share(.infinity, among: branches(of: waiting, level: 0), now: now)
        for id in buckets.keys { buckets[id]?.blocked = 0 }
        waiting = waiting.filter { !release($0, now: now) }
    }

    /// Lets the member go on if it has enough; else notes what it waits for.
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

    /// The member has ended; what it did not use goes to the others.
    mutating func forget(_ member: Member) {
        guard let leaf = leaves.removeValue(forKey: member) else { return }
        charge(-leaf.credit, to: leaf.path)
        if let wait = leaf.wait {
            buckets[wait.bucket]?.blocked -= 1
            waiting.removeAll { $0 == member }
        }
        sweep()
    }

    /// For tests: how many limits are remembered.
    var count: Int { buckets.count }
}

// MARK: The limits

extension BandwidthLimiter {
    /// The outermost limit that has nothing for a newcomer; nil when all of them have.
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
        // What was dealt at the old rate may be many seconds' worth at the new one.
        takeBack { $0.path.contains(limit) }
    }

    private mutating func takeBackUnused(now: Int64) {
        takeBack { $0.wait == nil && now - $0.dealt >= Self.keeping }
    }

    private mutating func takeBack(where isTaken: (Leaf) -> Bool) {
        for index in leaves.values.indices where leaves.values[index].credit > 0 && isTaken(leaves.values[index]) {
            let leaf = leaves.values[index]
            leaves.values[index].credit = 0
            charge(-leaf.credit, to: leaf.path)
        }
    }

    private mutating func charge(_ amount: Double, to path: [RateLimit]) {
        for limit in path {
            if amount >= 0 {
                buckets[ObjectIdentifier(limit)]?.take(amount)
            } else {
                buckets[ObjectIdentifier(limit)]?.giveBack(-amount)
            }
        }
    }

    /// What every limit of the path has.
    private func room(in path: [RateLimit]) -> Double {
        path.reduce(.infinity) { min($0, buckets[ObjectIdentifier($1)]?.tokens ?? .infinity) }
    }

    /// The limit that members of this path wait for: the outermost of those with least.
    private func driest(of path: [RateLimit]) -> ObjectIdentifier {
        let ids = path.map(ObjectIdentifier.init)
        let least = ids.filter { buckets[$0] != nil }.min { tokens($0) < tokens($1) }
        return ids.first { buckets[$0]?.isDry == true } ?? least ?? ids[0]
    }

    private func tokens(_ id: ObjectIdentifier) -> Double { buckets[id]?.tokens ?? .infinity }

    /// Drops the limits that exist nowhere else any more.
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
    /// One that waits, or a limit with those that wait below it.
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

    /// Deals evenly; what some cannot use goes to the others. Returns what was used of it.
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
            // Without any limit left it gets what it asked for.
            let amount = amount.isFinite ? amount : max(0, wait.count - leaf.credit)
            leaf.credit += amount
            leaf.dealt = now
            leaves[member] = leaf
            charge(amount, to: leaf.path)
            return amount
        }
    }
}
