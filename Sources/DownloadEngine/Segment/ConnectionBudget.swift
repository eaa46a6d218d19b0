/// The division of the connections with one host among all downloads of a session. Each download gets at least one
/// connection. The rest of the limit is divided evenly among the downloads that want more.
struct ConnectionBudget: Sendable, Equatable {
    private struct Part: Equatable {
        let id: Int
        /// The connections that the download has or was just granted.
        var has = 1
        var wants = 1
        /// Whether the user fixed the number of connections. Such connections count towards the limit, but their number
        /// is not reduced.
        let isFixed: Bool
    }

    /// The maximum number of connections. It falls when the host refuses connections, and does not rise after that.
    private(set) var limit: Int
    private var wasRefused = false
    /// The downloads in the order in which they joined.
    private var parts: [Part] = []
    private var nextID = 0

    init(limit: Int = SegmentPlanner.automaticLimit) { self.limit = max(1, limit) }

    /// Raises the limit for a download whose own limit is higher, unless the host has refused connections.
    mutating func raise(to limit: Int) {
        if !wasRefused { self.limit = max(self.limit, limit) }
    }

    var isIdle: Bool { parts.isEmpty }

    /// Adds a download with one connection. Returns the download's number.
    mutating func join(isFixed: Bool) -> Int {
        parts.append(Part(id: nextID, isFixed: isFixed))
        nextID += 1
        return parts[parts.count - 1].id
    }

    /// Removes a download, which frees its connections.
    mutating func leave(_ id: Int) { parts.removeAll { $0.id == id } }

    /// Returns how many connections a download may have now. If other downloads have more connections than their share,
    /// the surplus connections become free only when they are closed. A download with a fixed number is not limited.
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

    /// Records how many connections the download has, whatever number it was granted.
    mutating func settle(_ id: Int, has: Int) {
        if let index = parts.firstIndex(where: { $0.id == id }) { parts[index].has = has }
    }

    /// Records that the host closed a connection or refused another one. Returns the new limit.
    /// - Parameter serving: The number of connections of this download that the host still serves.
    mutating func refused(_ id: Int, serving: Int) -> Int {
        if let index = parts.firstIndex(where: { $0.id == id }) { parts[index].has = serving }
        limit = min(limit, max(1, parts.reduce(0) { $0 + $1.has }))
        wasRefused = true
        return limit
    }

    /// Returns the share of a download. Every download gets the number that it wants, up to a level that is the same
    /// for all. The remainder of the division goes to the first downloads.
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
