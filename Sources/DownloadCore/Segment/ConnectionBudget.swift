/// How many connections the downloads of a session have with one host together: one each, and what is left of the limit
/// is dealt evenly among those that want more. Pure.
struct ConnectionBudget: Sendable, Equatable {
    private struct Part: Equatable {
        let id: Int
        /// Those that it has, or was just granted.
        var has = 1
        var wants = 1
        /// Its user gave the number: it counts, and is not cut.
        let isFixed: Bool
    }

    /// Falls where the host refuses connections, and does not rise after that.
    private(set) var limit: Int
    private var wasRefused = false
    /// In the order they came.
    private var parts: [Part] = []
    private var nextID = 0

    init(limit: Int = SegmentPlanner.automaticLimit) { self.limit = max(1, limit) }

    /// A download may have more connections than others have unasked.
    mutating func raise(to limit: Int) {
        if !wasRefused { self.limit = max(self.limit, limit) }
    }

    var isIdle: Bool { parts.isEmpty }

    /// A download begins, with one connection.
    mutating func join(isFixed: Bool) -> Int {
        parts.append(Part(id: nextID, isFixed: isFixed))
        nextID += 1
        return parts[parts.count - 1].id
    }

    /// What it had is free.
    mutating func leave(_ id: Int) { parts.removeAll { $0.id == id } }

    /// Returns how many a download may have now. What others have above their share is free only when they close it.
    mutating func grant(_ id: Int, has: Int, wants: Int) -> Int {
        guard let index = parts.firstIndex(where: { $0.id == id }) else { return 1 }
        parts[index].has = has
        parts[index].wants = max(1, wants)
        if parts[index].isFixed { return .max }
        let room = limit - parts.reduce(0) { $0 + ($1.id == id ? 0 : $1.has) }
        let granted = max(1, min(share(of: index), room))
        parts[index].has = max(has, granted)
        return granted
    }

    /// It has no more than these, whatever it was granted.
    mutating func settle(_ id: Int, has: Int) {
        if let index = parts.firstIndex(where: { $0.id == id }) { parts[index].has = has }
    }

    /// The host let go of a connection, or did not take one more. Returns the limit from now on.
    /// - Parameter serving: those of this download that it still answers.
    mutating func refused(_ id: Int, serving: Int) -> Int {
        if let index = parts.firstIndex(where: { $0.id == id }) { parts[index].has = serving }
        limit = min(limit, max(1, parts.reduce(0) { $0 + $1.has }))
        wasRefused = true
        return limit
    }

    /// Everybody gets what it wants, up to a level that is the same for all; what does not divide goes to the first.
    private func share(of index: Int) -> Int {
        let fixed = parts.reduce(0) { $0 + ($1.isFixed ? $1.has : 0) }
        var left = limit - fixed
        var open = parts.indices.filter { !parts[$0].isFixed }
        while !open.isEmpty {
            let level = left / open.count
            let content = open.filter { parts[$0].wants <= level }
            if content.isEmpty {
                let rank = open.firstIndex(of: index) ?? open.count
                return max(1, level + (rank < left - level * open.count ? 1 : 0))
            }
            if content.contains(index) { return parts[index].wants }
            left -= content.reduce(0) { $0 + parts[$1].wants }
            open.removeAll { content.contains($0) }
        }
        return 1
    }
}
