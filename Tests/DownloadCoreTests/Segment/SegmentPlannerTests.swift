import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite("SegmentPlanner: who fetches what")
struct SegmentPlannerTests {
    private static let mib: Int64 = 1 << 20

    private func planner(_ ranges: [Range<Int64>], _ connections: Int) -> SegmentPlanner {
        SegmentPlanner(missing: ByteRanges(ranges), connections: connections)
    }

    @Test("One connection takes each gap as a whole, in order")
    func oneConnection() {
        var planner = planner([10..<20, 100..<9_000_000_000], 1)
        #expect(!planner.isExhausted)
        #expect(planner.next(for: 0) == 10..<20)
        #expect(planner.next(for: 0) == 100..<9_000_000_000)
        #expect(planner.isExhausted)
        #expect(planner.next(for: 0) == nil)
    }

    @Test("Nothing missing is nothing to deal", arguments: [1, 8])
    func nothing(connections: Int) {
        var planner = planner([], connections)
        #expect(planner.isExhausted)
        #expect(planner.next(for: 0) == nil)
    }

    @Test("Several connections begin evenly apart, each with one lease at a time")
    func several() {
        var planner = planner([0..<128 * Self.mib], 4)
        let first = (0..<4).map { planner.next(for: $0) }
        #expect(first.compactMap { $0?.lowerBound }.sorted() == [0, 32, 64, 96].map { $0 * Self.mib })
        #expect(first.allSatisfy { $0?.count == 16 << 20 })
        // Each goes on in its own territory.
        for connection in 0..<4 {
            let next = planner.next(for: connection)
            #expect(next?.lowerBound == first[connection]?.upperBound)
        }
        #expect(planner.isExhausted)
    }

    @Test("Too little for several is left to one", arguments: [1, 1 << 19, (1 << 21) - 1] as [Int64])
    func small(size: Int64) {
        var planner = planner([0..<size], 4)
        #expect(planner.next(for: 0) == 0..<size)
        #expect(planner.next(for: 1) == nil)
    }

    @Test("A rest that is not worth a request of its own goes along with the last one")
    func noCrumbs() {
        let size = SegmentPlanner.sharedLease + SegmentPlanner.smallestShare - 1
        var planner = planner([0..<size, 100 * Self.mib..<101 * Self.mib], 2)
        #expect(planner.next(for: 0) == 0..<size)
        #expect(planner.next(for: 0) == 100 * Self.mib..<101 * Self.mib)
    }

    @Test("Who is done takes half of the largest rest")
    func stealing() {
        var planner = planner([0..<200 * Self.mib], 2)
        #expect(planner.next(for: 0) == 0..<16 * Self.mib)
        #expect(planner.next(for: 1) == 100 * Self.mib..<116 * Self.mib)
        // The first is fast: it finishes its own, then helps with what the second has not asked for yet.
        var ranges: [Range<Int64>] = []
        while let range = planner.next(for: 0) { ranges.append(range) }
        // Only what is not worth a request of its own is left to the second.
        let last = planner.next(for: 1)
        #expect((1..<2 * Self.mib).contains(Int64(last?.count ?? 0)))
        #expect(planner.isExhausted)
        let fetched = ByteRanges(ranges + [last ?? 0..<0])
        #expect(fetched == ByteRanges([16 * Self.mib..<100 * Self.mib, 116 * Self.mib..<200 * Self.mib]))
        #expect(planner.next(for: 1) == nil)
    }

    @Test("What a lost connection did not bring comes first, and its territory is free")
    func giveBack() {
        var planner = planner([0..<100 * Self.mib], 2)
        let lease = planner.next(for: 0)
        _ = planner.next(for: 1)
        #expect(lease == 0..<16 * Self.mib)
        planner.giveBack(0, unfinished: 5 * Self.mib..<16 * Self.mib)
        #expect(planner.next(for: 2) == 5 * Self.mib..<16 * Self.mib)
        #expect(planner.next(for: 2) == 16 * Self.mib..<32 * Self.mib)
    }

    @Test("Giving back nothing changes nothing but the owner")
    func giveBackNothing() {
        var planner = planner([0..<100 * Self.mib], 2)
        let first = planner.next(for: 0)
        planner.giveBack(0, unfinished: 7..<7)
        #expect(planner.next(for: 5)?.lowerBound == first?.upperBound)
        planner.giveBack(99, unfinished: 0..<0)
    }

    // MARK: Whatever happens

    @Test(
        "Whatever the order, what is dealt never overlaps, and in the end every missing byte came once",
        arguments: 0..<60)
    func property(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let connections = Int.random(in: 1...9, using: &random)
        var missing = ByteRanges()
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let start = Int64.random(in: 0...300 * Self.mib, using: &random)
            missing.insert(start..<start + Int64.random(in: 1...90 * Self.mib, using: &random))
        }
        var planner = SegmentPlanner(missing: missing, connections: connections)
        var active: [Int: Range<Int64>] = [:]
        var done = ByteRanges()
        var names = 0
        var idle = 0
        while idle < 1000 {
            if active.count < connections, Bool.random(using: &random) {
                names += 1
                guard let range = planner.next(for: names) else {
                    idle += active.isEmpty ? 1000 : 1
                    continue
                }
                expectFree(range, active, done, missing)
                active[names] = range
                continue
            }
            guard let (name, range) = active.randomElement(using: &random) else { continue }
            idle = 0
            active[name] = nil
            // All of it came, or some, or nothing.
            let end: Int64 =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: range.lowerBound
                case 1: Int64.random(in: range.lowerBound...range.upperBound, using: &random)
                default: range.upperBound
                }
            done.insert(range.lowerBound..<end)
            planner.giveBack(name, unfinished: end..<range.upperBound)
            // Its connection lives on in most cases, and asks for more.
            if end == range.upperBound, let more = planner.next(for: name) {
                expectFree(more, active, done, missing)
                active[name] = more
            }
        }
        #expect(planner.isExhausted)
        #expect(active.isEmpty)
        #expect(done == missing)
    }

    private func expectFree(
        _ range: Range<Int64>, _ active: [Int: Range<Int64>], _ done: ByteRanges, _ missing: ByteRanges
    ) {
        #expect(!range.isEmpty)
        #expect(missing.contains(range), "\(range) was not missing")
        #expect(!active.values.contains { $0.overlaps(range) }, "\(range) is dealt already")
        #expect(!done.ranges.contains { $0.overlaps(range) }, "\(range) is here already")
    }
}
