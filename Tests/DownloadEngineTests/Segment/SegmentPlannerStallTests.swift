import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SegmentPlanner: stalled connections", .inTurn)
struct SegmentPlannerStallTests {
    private static let mib: Int64 = 1 << 20
    private static let reserve: Int64 = 256 << 10
    /// The offset at which the first connection stalls, and the end of the bytes it keeps.
    private static let still = 10 * mib
    private static let kept = still + reserve

    /// Returns a planner with `count` connections. Each connection has requested its whole 16 MiB. The first connection
    /// has fetched 10 MiB and has been stalled for 5 s. The second connection has fetched its own range, and takes over
    /// the range of the first, except for the bytes that the first keeps.
    private func standing(_ count: Int = 2) -> SegmentPlanner {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<Int64(count) * 16 * Self.mib]), first: (0, 0..<16 * Self.mib), wish: count, now: 0)
        planner.answered(0, after: 0.01, at: 0)
        _ = planner.handle(.tick, at: 0)
        for connection in 1..<count { planner.answered(connection, after: 0.01, at: 0) }
        planner.progress([(0, Self.still)], at: 1)
        for tick in 1...5 {
            let moving = planner.connections.dropFirst().map { ($0.id, $0.position + Self.mib) }
            planner.progress([(0, Self.still)] + moving, at: Double(1 + tick))
        }
        let end = planner.connections[1].end
        #expect(
            planner.handle(.ended(1, position: end, .complete), at: 6) == [
                .cut(connection: 0, at: Self.kept), .ask(connection: 1, range: Self.kept..<16 * Self.mib),
            ])
        return planner
    }

    /// Returns the planner of ``standing(_:)`` after the second connection has fetched the range that it took over. The
    /// second connection now also requests the bytes that the first keeps.
    private func repeating() -> SegmentPlanner {
        var planner = standing()
        planner.answered(1, after: 0.01, at: 6.1)
        #expect(
            planner.handle(.ended(1, position: 16 * Self.mib, .complete), at: 6.2)
                == [.duplicate(connection: 1, range: Self.still..<Self.kept, of: 0)])
        return planner
    }

    @Test("Until the first byte of an answer comes, no request is ended, and none is added", arguments: [1, nil])
    func firstAnswer(wish: Int?) {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<64 * Self.mib]), first: (0, 0..<64 * Self.mib), wish: wish, mayChooseAddress: true,
            now: 0)
        for time in stride(from: 0, through: 100, by: 0.5) {
            #expect(planner.handle(.tick, at: time).isEmpty, "after \(time) s")
        }
        #expect(planner.learned == nil && planner.cap == nil && planner.restraint == nil)
    }

    @Test("The only connection is given more and more time for its answer")
    func patient() {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<64 * Self.mib]), first: (0, 0..<64 * Self.mib), wish: 1, mayChooseAddress: true,
            now: 0)
        planner.answered(0, after: 0.01, at: 0)
        planner.progress([(0, Self.mib)], at: 1)
        var decisions = planner.handle(.ended(0, position: Self.mib, .lost), at: 1)
        var asked: [Double] = []
        for time in stride(from: 1, through: 100, by: 0.5) {
            if case .ask? = decisions.first { asked.append(time) }
            decisions = planner.handle(.tick, at: time)
            if case .cut(let connection, let end)? = decisions.first {
                decisions = planner.handle(.ended(connection, position: end, .cut), at: time)
            }
        }
        #expect(asked.count > 1 && asked.count <= 6, "\(asked)")
    }

    @Test("A stalled connection keeps a few bytes; when it continues, it takes bytes from the others again")
    func goesOn() {
        var planner = standing()
        planner.answered(1, after: 0.01, at: 6.01)
        planner.progress([(0, Self.kept), (1, Self.kept + Self.mib)], at: 6.5)
        let decisions = planner.handle(.ended(0, position: Self.kept, .cut), at: 6.5)
        guard case .cut(1, let end)? = decisions.first, case .ask(0, let range)? = decisions.last else {
            Issue.record("\(decisions)")
            return
        }
        #expect(range == end..<16 * Self.mib)
    }

    @Test("The bytes that a stalled connection keeps are requested twice, and the new connection fetches them")
    func replaced() {
        var planner = repeating()
        planner.answered(1, after: 0.01, at: 6.21)
        planner.progress([(0, Self.still), (1, Self.still + 1)], at: 6.3)
        #expect(planner.handle(.tick, at: 6.3) == [.cut(connection: 0, at: Self.still)])
        _ = planner.handle(.ended(0, position: Self.still, .cut), at: 6.4)
        // Each of the remaining bytes is requested once.
        #expect(planner.connections.map(\.left).reduce(0, +) == Self.reserve - 1)
        #expect(planner.connections.allSatisfy { $0.duplicates == nil && $0.duplicatedBy == nil })
    }

    @Test("The bytes that a stalled connection keeps are requested twice, and the old connection fetches them")
    func wakes() {
        var planner = repeating()
        planner.progress([(0, Self.still + 1)], at: 6.3)
        #expect(planner.handle(.tick, at: 6.3) == [.cut(connection: 1, at: Self.still)])
        _ = planner.handle(.ended(1, position: Self.still, .cut), at: 6.4)
        #expect(planner.connections.contains { $0.id == 0 && $0.end > Self.still })
    }

    @Test("If one of two connections with the same range is lost, the range is still fetched", arguments: [0, 1])
    func oneOfTwoLost(connection: Int) {
        var planner = repeating()
        let decisions = planner.handle(.ended(connection, position: Self.still, .lost), at: 6.3)
        // The other connection still has the range, alone or with a new connection that takes a part.
        for case .ask(_, let range) in decisions { #expect(range.upperBound == Self.kept) }
        #expect(planner.connections.filter { $0.duplicates == nil }.map(\.left).reduce(0, +) == Self.reserve)
    }

    /// Returns a planner with three connections for the same range. The third connection duplicates the first, and the
    /// second duplicates the third.
    private func threefold() -> SegmentPlanner {
        var planner = standing(3)
        let end = planner.connections[2].end
        #expect(
            planner.handle(.ended(2, position: end, .complete), at: 6.05)
                == [.duplicate(connection: 2, range: Self.still..<Self.kept, of: 0)])
        planner.answered(1, after: 0.01, at: 6.06)
        #expect(planner.handle(.ended(1, position: 16 * Self.mib, .complete), at: 6.2).isEmpty)
        #expect(
            planner.handle(.tick, at: 6.6)
                == [.duplicate(connection: 1, range: Self.still..<Self.kept, of: 2)])
        return planner
    }

    @Test("If a duplicate stalls, a third connection requests the range, and the first one to bring bytes continues")
    func secondStands() {
        for first in 0...2 {
            var planner = threefold()
            planner.answered(first, after: 0.01, at: 6.61)
            planner.progress([(first, Self.still + 1)], at: 6.7)
            let decisions = planner.handle(.tick, at: 6.7)
            let cut = decisions.compactMap { if case .cut(let other, Self.still) = $0 { other } else { nil } }
            #expect(Set(cut) == Set(0...2).subtracting([first]), "\(first): \(decisions)")
            #expect(planner.connections.map(\.left).reduce(0, +) == Self.reserve - 1)
            #expect(planner.connections.allSatisfy { $0.duplicates == nil && $0.duplicatedBy == nil })
        }
    }

    @Test("If one of three connections with the same range is lost, the other two keep it", arguments: 0...2)
    func oneOfThreeLost(connection: Int) {
        var planner = threefold()
        for case .ask(_, let range) in planner.handle(.ended(connection, position: Self.still, .lost), at: 6.7) {
            Issue.record("\(range) is requested, although two others have it")
        }
        let others = planner.connections.filter { (0...2).contains($0.id) }
        #expect(others.map(\.id) == [0, 2, 1].filter { $0 != connection })
        #expect(others.allSatisfy { $0.left == Self.reserve })
        #expect(others[1].duplicates == others[0].id)
        #expect(others[0].duplicatedBy == others[1].id)
    }

    @Test("A connection waiting for its first byte gives nothing of its range away")
    func awaited() {
        var planner = standing()
        // The first connection continues and ends at once, while the other connection still waits for its first byte.
        planner.progress([(0, Self.kept)], at: 6.05)
        #expect(planner.handle(.ended(0, position: Self.kept, .cut), at: 6.05).isEmpty)
        #expect(planner.connections.map(\.id) == [1])
        planner.answered(1, after: 0.01, at: 6.06)
        planner.progress([(1, Self.kept + Self.mib)], at: 6.5)
        #expect(planner.handle(.tick, at: 6.5).contains { if case .cut(1, _) = $0 { true } else { false } })
    }

    @Test("A connection waiting for its first byte keeps its range; another connection requests the same range")
    func unanswered() {
        var planner = standing()
        planner.progress([(0, Self.kept)], at: 6.05)
        #expect(planner.handle(.ended(0, position: Self.kept, .cut), at: 6.05).isEmpty)
        guard case .duplicate(2, let range, of: 1)? = planner.handle(.tick, at: 9).first else {
            Issue.record("no other connection requests the range")
            return
        }
        #expect(range == Self.kept..<16 * Self.mib)
        // Connection 1 was only slow to answer.
        planner.answered(1, after: 4, at: 10)
        planner.progress([(1, Self.kept + 1)], at: 10)
        #expect(planner.handle(.tick, at: 10) == [.cut(connection: 2, at: Self.kept)])
    }

    @Test("A first byte may take twice as long as any other took, up to a limit", arguments: [1.2, 20])
    func late(slowest: Double) {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<32 * Self.mib]), first: (0, 0..<4 * Self.mib), wish: 2, now: 0)
        planner.answered(0, after: 0.01, at: 0)
        #expect(planner.handle(.tick, at: 0) == [.ask(connection: 1, range: 16 * Self.mib..<32 * Self.mib)])
        #expect(
            planner.handle(.ended(0, position: 4 * Self.mib, .complete), at: 1)
                == [.ask(connection: 0, range: 4 * Self.mib..<16 * Self.mib)])
        planner.answered(0, after: slowest, at: 1.5)
        #expect(planner.handle(.ended(0, position: 16 * Self.mib, .complete), at: 1.6).isEmpty)
        let patience = min(2 * slowest, 2.8)
        #expect(planner.handle(.tick, at: patience - 0.1).isEmpty)
        #expect(
            planner.handle(.tick, at: patience + 0.01)
                == [.duplicate(connection: 0, range: 16 * Self.mib..<32 * Self.mib, of: 1)])
    }

    @Test("Doubtful bytes of a stalled connection are requested again, at once or later", arguments: [true, false])
    func doubted(isLost: Bool) {
        var planner = repeating()
        let believed = Self.still - 65_536
        let decisions = planner.handle(.ended(0, position: believed, isLost ? .lost : .cut), at: 6.3)
        if isLost {
            #expect(decisions == [.ask(connection: 2, range: believed..<Self.still)])
        } else {
            #expect(decisions == [.ask(connection: 0, range: Self.still..<Self.kept)])
            #expect(planner.free == ByteRanges([believed..<Self.still]))
        }
        // The connection that took over is not cut for bytes that it has not fetched.
        #expect(planner.connections.first { $0.id == 1 }?.left == Self.reserve)
    }

    @Test("A connection without work is used again before a new one is opened")
    func parked() {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<32 * Self.mib]), first: (0, 0..<16 * Self.mib), wish: 2, now: 0)
        planner.answered(0, after: 0.01, at: 0)
        _ = planner.handle(.tick, at: 0)
        planner.answered(1, after: 0.01, at: 0)
        planner.progress([(0, 15 * Self.mib), (1, 31 * Self.mib)], at: 1)
        #expect(planner.handle(.tick, at: 1).isEmpty)
        // The first connection has so few bytes left that no other connection could fetch them sooner. Then the first
        // connection stalls.
        let almost = 16 * Self.mib - 1000
        planner.progress([(0, almost), (1, 32 * Self.mib)], at: 2)
        #expect(planner.handle(.ended(1, position: 32 * Self.mib, .complete), at: 2).isEmpty)
        #expect(planner.demand.has == 1)
        planner.progress([(0, almost)], at: 2.2)
        #expect(planner.handle(.tick, at: 2.2).isEmpty)
        #expect(
            planner.handle(.tick, at: 2.3)
                == [.duplicate(connection: 1, range: almost..<16 * Self.mib, of: 0)])
    }
}
