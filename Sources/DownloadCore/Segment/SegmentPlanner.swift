/// Deals the missing bytes of one file to connections. Each works through a territory of its own, one lease (one
/// request) at a time; who has none left takes half of the largest one's part that is not asked for yet.
package struct SegmentPlanner: Sendable, Equatable {
    private struct Territory: Equatable {
        var range: Range<Int64>
        var owner: Int?
    }

    private var territories: [Territory]
    private let leaseSize: Int64

    /// A territory smaller than this is not worth a connection.
    package static let smallestShare: Int64 = 1 << 20
    /// What several connections ask for at a time: large enough to make the round trips cheap, small enough to leave
    /// something to take over.
    package static let sharedLease: Int64 = 16 << 20

    /// - Parameter connections: how many will ask; with one, each gap is one lease.
    package init(missing: ByteRanges, connections: Int) {
        leaseSize = connections > 1 ? Self.sharedLease : .max
        territories = missing.ranges.map { Territory(range: $0, owner: nil) }
        while territories.count < connections, let index = largest(where: { $0.owner == nil }),
            territories[index].range.count >= 2 * Self.smallestShare
        {
            split(index, newOwner: nil)
        }
    }

    /// Nothing is left to deal.
    package var isExhausted: Bool { territories.isEmpty }

    /// The next range for this connection; nil when there is nothing for it to do.
    package mutating func next(for connection: Int) -> Range<Int64>? {
        guard let index = territory(for: connection) else { return nil }
        let range = territories[index].range
        let rest = Int64(range.count) - leaseSize
        let end = rest < Self.smallestShare ? range.upperBound : range.lowerBound + leaseSize
        if end == range.upperBound {
            territories.remove(at: index)
        } else {
            territories[index] = Territory(range: end..<range.upperBound, owner: connection)
        }
        return range.lowerBound..<end
    }

    /// The connection is gone, or came back short: what it did not bring is for anybody.
    package mutating func giveBack(_ connection: Int, unfinished: Range<Int64>) {
        for index in territories.indices where territories[index].owner == connection {
            territories[index].owner = nil
        }
        if !unfinished.isEmpty { territories.insert(Territory(range: unfinished, owner: nil), at: 0) }
    }

    private mutating func territory(for connection: Int) -> Int? {
        if let own = territories.firstIndex(where: { $0.owner == connection }) { return own }
        if let free = territories.firstIndex(where: { $0.owner == nil }) {
            territories[free].owner = connection
            return free
        }
        guard let index = largest(where: { _ in true }), territories[index].range.count >= 2 * Self.smallestShare else {
            return nil
        }
        split(index, newOwner: connection)
        return index + 1
    }

    private func largest(where isMeant: (Territory) -> Bool) -> Int? {
        territories.indices.filter { isMeant(territories[$0]) }
            .max { territories[$0].range.count < territories[$1].range.count }
    }

    private mutating func split(_ index: Int, newOwner: Int?) {
        let range = territories[index].range
        let middle = range.lowerBound + Int64(range.count) / 2
        territories[index].range = range.lowerBound..<middle
        territories.insert(Territory(range: middle..<range.upperBound, owner: newOwner), at: index + 1)
    }
}
