import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SegmentPlanner: which connection fetches what, event by event", .inTurn)
struct SegmentPlannerTests {
    private static let mib: Int64 = 1 << 20

    /// Returns a planner with two connections for 128 MiB. Each connection has half of the bytes, has requested 16 MiB
    /// of them, and has fetched 5 MiB in a second.
    private func pair() -> SegmentPlanner {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<128 * Self.mib]), first: (0, 0..<16 * Self.mib), wish: 2, now: 0)
        #expect(
            planner.handle(.tick, at: 0.1) == [
                .ask(connection: 1, range: 64 * Self.mib..<80 * Self.mib)
            ])
        planner.answered(1, after: 0.01, at: 0.1)
        #expect(planner.handle(.tick, at: 0.1).isEmpty)
        for tick in 1...5 {
            let time = 0.1 + Double(tick) * 0.2
            planner.progress([(0, Int64(tick) * Self.mib), (1, Int64(64 + tick) * Self.mib)], at: time)
            #expect(planner.handle(.tick, at: time).isEmpty)
        }
        return planner
    }

    @Test("A single connection takes each gap as a whole, in order")
    func oneConnection() {
        var planner = SegmentPlanner(
            missing: ByteRanges([10..<20, 100..<9_000_000_000]), first: (0, 10..<20), wish: 1, now: 0)
        #expect(planner.tickInterval == nil)
        planner.answered(0, after: 0.1, at: 0.1)
        #expect(planner.handle(.tick, at: 0.1).isEmpty)
        #expect(
            planner.handle(.ended(0, position: 20, .complete), at: 1) == [
                .ask(connection: 0, range: 100..<9_000_000_000)
            ])
        #expect(planner.handle(.ended(0, position: 9_000_000_000, .complete), at: 9).isEmpty)
        #expect(planner.isDone)
    }

    @Test("Without missing bytes there is nothing to do", arguments: [nil, 1, 8])
    func nothing(wish: Int?) {
        var planner = SegmentPlanner(missing: ByteRanges(), first: nil, wish: wish, now: 0)
        #expect(planner.handle(.tick, at: 0).isEmpty)
        #expect(planner.isDone)
    }

    @Test(
        "The requested connections begin at even distances, and each new one requests 16 MiB",
        arguments: [2, 4, 6, 16])
    func several(wish: Int) {
        let size = Int64(wish) * 64 * Self.mib
        var planner = SegmentPlanner(missing: ByteRanges([0..<size]), first: (0, 0..<4 * Self.mib), wish: wish, now: 0)
        let ranges = planner.handle(.tick, at: 0).map { decision -> Range<Int64> in
            guard case .ask(_, let range) = decision else { return 0..<0 }
            return range
        }
        #expect(ranges.map(\.lowerBound).sorted() == (1..<wish).map { Int64($0) * 64 * Self.mib })
        #expect(ranges.allSatisfy { $0.count == 16 << 20 })
    }

    @Test("If a connection can send only one request, all ranges are assigned at once, and the first range is cut")
    func withoutKeptConnections() {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<128 * Self.mib]), first: (0, 0..<128 * Self.mib), wish: 4, keepsConnections: false,
            now: 0)
        var asked = ByteRanges()
        for decision in planner.handle(.tick, at: 0) {
            switch decision {
            case .cut(0, let end): asked.insert(0..<end)
            case .ask(_, let range):
                #expect(!asked.overlaps(range))
                #expect(range.count >= 24 * Self.mib, "\(range)")
                asked.insert(range)
            default: Issue.record("\(decision)")
            }
        }
        #expect(asked == ByteRanges([0..<128 * Self.mib]))
        #expect(planner.demand.has == 4)
        // One connection too many is refused. The first request goes on into its range.
        let refused = planner.connections[3].position..<planner.connections[3].end
        #expect(refused.lowerBound == planner.connections[0].end)
        #expect(
            planner.handle(.ended(3, position: refused.lowerBound, .refused), at: 0.1)
                == [.cut(connection: 0, at: refused.upperBound)])
        #expect(planner.target == 3)
        #expect(planner.handle(.ended(0, position: refused.upperBound, .complete), at: 1).count == 1)
        #expect(planner.connections.first { $0.id == 0 }?.isFresh == true)
    }

    @Test("An answer shorter than its request is continued on the same connection")
    func short() {
        var planner = pair()
        #expect(
            planner.handle(.ended(0, position: 6 * Self.mib, .complete), at: 2)
                == [.ask(connection: 0, range: 6 * Self.mib..<22 * Self.mib)])
    }

    @Test("When a connection is done, it takes bytes that another has not requested yet, without a cut")
    func uncut() {
        var planner = pair()
        // The second connection suddenly fetches its whole range.
        planner.progress([(0, 6 * Self.mib)], at: 1.2)
        var decisions = planner.handle(.ended(1, position: 80 * Self.mib, .complete), at: 1.2)
        #expect(decisions == [.ask(connection: 1, range: 80 * Self.mib..<96 * Self.mib)])
        decisions = planner.handle(.ended(1, position: 96 * Self.mib, .complete), at: 1.2)
        decisions = planner.handle(.ended(1, position: 112 * Self.mib, .complete), at: 1.2)
        decisions = planner.handle(.ended(1, position: 128 * Self.mib, .complete), at: 1.2)
        guard case .ask(1, let range)? = decisions.first, decisions.count == 1 else {
            Issue.record("\(decisions)")
            return
        }
        #expect(range.lowerBound >= 16 * Self.mib)
        #expect(range.upperBound <= 64 * Self.mib)
    }

    @Test("A request that does not end at a whole buffer is not cut for that reason", arguments: [0, 4096, 100_000])
    func unaligned(length: Int64) {
        let lease = 16 * Self.mib + length
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<64 * Self.mib]), first: (0, 0..<lease), wish: 2, now: 0)
        planner.answered(0, after: 0.01, at: 0)
        _ = planner.handle(.tick, at: 0)
        planner.answered(1, after: 0.01, at: 0)
        planner.progress([(0, 4 * Self.mib)], at: 1)
        // The second connection fetches its whole range in the same second.
        while let end = planner.connections.first(where: { $0.id == 1 })?.leaseEnd, end < 64 * Self.mib {
            #expect(planner.handle(.ended(1, position: end, .complete), at: 1).count == 1)
        }
        let decisions = planner.handle(.ended(1, position: 64 * Self.mib, .complete), at: 1)
        guard case .ask(1, let range)? = decisions.first, decisions.count == 1 else {
            Issue.record("\(decisions)")
            return
        }
        #expect(range.lowerBound >= lease)
    }

    @Test("A request is cut so that both connections end at about the same time")
    func cut() {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<32 * Self.mib]), first: (0, 0..<16 * Self.mib), wish: 2, now: 0)
        #expect(
            planner.handle(.tick, at: 0) == [
                .ask(connection: 1, range: 16 * Self.mib..<32 * Self.mib)
            ])
        planner.answered(1, after: 0.01, at: 0)
        for tick in 1...10 {
            planner.progress(
                [(0, Int64(tick) * Self.mib / 4), (1, 16 * Self.mib + Int64(tick) * Self.mib)], at: Double(tick))
            #expect(planner.handle(.tick, at: Double(tick)).isEmpty)
        }
        planner.progress([(0, 4 * Self.mib)], at: 16)
        let decisions = planner.handle(.ended(1, position: 32 * Self.mib, .complete), at: 16)
        guard case .cut(0, let end)? = decisions.first, case .ask(1, let range)? = decisions.last else {
            Issue.record("\(decisions)")
            return
        }
        // The second connection is four times as fast, and requests the bytes that it can fetch until both end.
        #expect(range.lowerBound == end)
        #expect(abs(Double(end - 4 * Self.mib) / Double(12 * Self.mib) - 0.2) < 0.05)
    }

    @Test("Another connection takes the range of a lost connection")
    func lost() {
        var planner = pair()
        let decisions = planner.handle(.ended(1, position: 70 * Self.mib, .lost), at: 1.5)
        guard case .ask(2, let range)? = decisions.first else {
            Issue.record("\(decisions)")
            return
        }
        #expect(range.lowerBound == 70 * Self.mib)
    }

    @Test("Connections that were lost too often without progress are not replaced")
    func fruitlessLosses() {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<1 << 30]), first: (0, 0..<4 << 20), wish: 2, fruitlessLimit: 3, now: 0)
        for connection in 1...3 {
            let decisions = planner.handle(.tick, at: Double(connection))
            #expect(decisions.count == (connection == 1 ? 1 : 0))
            let position = planner.connections.first { $0.id == connection }?.position ?? 0
            let next = planner.handle(.ended(connection, position: position, .lost), at: Double(connection) + 0.5)
            #expect(next.count == (connection < 3 ? 1 : 0))
        }
        #expect(planner.connections.count == 1)
    }

    @Test("A refused connection is not retried for a while, and the others go on")
    func refused() {
        var planner = SegmentPlanner(missing: ByteRanges([0..<1 << 30]), first: (0, 0..<4 << 20), wish: 8, now: 0)
        #expect(planner.handle(.tick, at: 0).count == 7)
        for connection in 1...3 { planner.answered(connection, after: 0.01, at: 0.1) }
        for connection in 4...7 {
            let position = planner.connections.first { $0.id == connection }?.position ?? 0
            #expect(planner.handle(.ended(connection, position: position, .refused), at: 0.1).isEmpty)
        }
        #expect(planner.target == 4)
        #expect(planner.handle(.ended(3, position: 800 << 20, .refused), at: 5).isEmpty)
        #expect(planner.target == 3)
        #expect(planner.cap == 3)
        #expect(planner.learned == 3)
    }

    @Test("Bytes of a range that have come since the range was assigned are skipped")
    func skipped() {
        var planner = pair()
        planner.skip(1, to: 70 * Self.mib)
        #expect(planner.connections[1].position == 70 * Self.mib)
        planner.skip(1, to: 1)
        #expect(planner.connections[1].position == 70 * Self.mib)
        #expect(
            planner.handle(.ended(1, position: 80 * Self.mib, .complete), at: 2)
                == [.ask(connection: 1, range: 80 * Self.mib..<96 * Self.mib)])
    }

    @Test("If the first answer comes long before the partial file is created, this does not count as a stall")
    func lateBeginning() {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<32 * Self.mib]), first: (0, 1..<4 * Self.mib), wish: 2, now: 0)
        planner.answered(0, after: 0.01, at: -5)
        planner.progress([(0, 1)], at: 0.001)
        for decision in planner.handle(.tick, at: 0.001) {
            if case .duplicate = decision { Issue.record("\(decision)") }
        }
    }

    // MARK: Number of connections

    @Test("A host profile is fresh for a week, and for a day if it has a cap")
    func knowledgeAges() {
        let learned = Date(timeIntervalSince1970: 1_000_000)
        let knowledge = HostKnowledge(best: 8, cap: nil, learned: learned)
        #expect(knowledge.isFresh(at: learned + 7 * 24 * 3600 - 1))
        #expect(!knowledge.isFresh(at: learned + 7 * 24 * 3600))
        #expect(!knowledge.isFresh(at: learned - 1))
        let capped = HostKnowledge(best: 8, cap: 8, learned: learned)
        #expect(capped.isFresh(at: learned + 24 * 3600 - 1))
        #expect(!capped.isFresh(at: learned + 24 * 3600))
    }

    @Test("A known host gets its connections in one step; its cap holds unless a number is requested")
    func knowledge() {
        let knowledge = HostKnowledge(best: 6, cap: 6, learned: Date(timeIntervalSince1970: 0))
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<1 << 30]), first: (0, 0..<1 << 30), wish: nil, knowledge: knowledge, now: 0)
        planner.answered(0, after: 0.001, at: 0)
        var opened = 0
        for tick in 1...40 {
            let time = Double(tick) * 0.025
            planner.progress([(0, Int64(tick) << 18)], at: time)
            opened += planner.handle(.tick, at: time).count { if case .ask = $0 { true } else { false } }
            if opened > 0 { break }
        }
        #expect(opened == 5)
        let fixed = SegmentPlanner(
            missing: ByteRanges([0..<1 << 30]), first: (0, 0..<4 << 20), wish: 8, knowledge: knowledge, now: 0)
        #expect(fixed.target == 8)
    }

    @Test("Connections are opened as far as they are granted, and a grant does not change the host profile")
    func grants() {
        let knowledge = HostKnowledge(best: 6, cap: nil, learned: Date(timeIntervalSince1970: 0))
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<1 << 30]), first: (0, 0..<1 << 30), wish: nil, knowledge: knowledge, now: 0)
        planner.answered(0, after: 0.001, at: 0)
        planner.grant(1)
        var tick = 0
        /// Runs the planner while each connection fetches 10 MiB a second. Returns the number of opened connections.
        func run(until isOver: (SegmentPlanner) -> Bool) -> Int {
            var opened = 0
            for _ in 1...80 where !isOver(planner) {
                tick += 1
                let time = Double(tick) * 0.025
                planner.progress(planner.connections.map { ($0.id, $0.position + 1 << 18) }, at: time)
                opened += planner.handle(.tick, at: time).count { if case .ask = $0 { true } else { false } }
                for connection in planner.connections where connection.pace.firstAnswer == nil {
                    planner.answered(connection.id, after: 0.001, at: time)
                }
            }
            return opened
        }
        #expect(run { $0.demand.wants > 1 } == 0)
        #expect(planner.demand.wants == 6)
        #expect(planner.target == 1)
        #expect(planner.tickInterval == 1)
        planner.grant(3)
        #expect(run { $0.demand.has > 1 } == 2)
        // The number stays the same, because the other downloads have the rest.
        #expect(run { _ in false } == 0)
        planner.grant(6)
        #expect(run { $0.demand.has > 3 } == 3)
        planner.grant(2)
        #expect(planner.target == 2)
        let first = planner.connections[0]
        // A connection that ends is not replaced while there are as many connections as granted, or more.
        #expect(planner.handle(.ended(first.id, position: first.leaseEnd, .complete), at: 10).isEmpty)
        #expect(planner.demand.has == 5)
        #expect(planner.learned == nil)
    }

    @Test("A burst of buffered bytes does not count as speed")
    func burst() {
        var estimate = SpeedEstimate()
        estimate.observe(8 << 20, over: 0.05, isBurst: true)
        for _ in 0..<10 { estimate.observe(1 << 17, over: 0.125, isBurst: false) }
        #expect(estimate.value.map { abs($0 - Double(1 << 20)) < 1 } == true)
    }

    @Test("If every answer is one burst, bursts count as the speed when an answer ends")
    func shortAnswers() {
        var estimate = SpeedEstimate()
        for _ in 0..<10 { estimate.observe(0, over: 0.2, isBurst: false) }
        estimate.endAnswer()
        #expect(estimate.value == 0)
        for _ in 0..<20 {
            estimate.observe(1 << 19, over: 0.05, isBurst: true)
            estimate.observe(1 << 19, over: 0.05, isBurst: true)
            estimate.endAnswer()
        }
        #expect(estimate.value.map { (5 << 20...10 << 20).contains(Int($0)) } == true)
        let before = estimate.value
        estimate.observe(8 << 20, over: 0.05, isBurst: true)
        #expect(estimate.value == before)
        estimate.observe(1 << 10, over: 0.05, isBurst: false)
        let after = estimate.value
        estimate.endAnswer()
        #expect(estimate.value == after)
    }

    @Test("The low estimate follows a connection that has become slow")
    func slow() {
        var estimate = SpeedEstimate()
        for _ in 0..<20 { estimate.observe(1 << 20, over: 0.1, isBurst: false) }
        estimate.endAnswer()
        estimate.observe(1 << 10, over: 0.1, isBurst: true)
        #expect(estimate.low.map { abs($0 - Double(10 << 20)) < 1 } == true)
        for _ in 0..<2 { estimate.observe(1 << 10, over: 0.1, isBurst: true) }
        #expect(estimate.low.map { abs($0 - Double(10 << 10)) < 1 } == true)
        #expect(estimate.value.map { abs($0 - Double(10 << 20)) < 1 } == true)
    }

    @Test("The estimate follows a new speed within a few seconds")
    func speedFades() {
        var estimate = SpeedEstimate()
        for _ in 0..<100 { estimate.observe(1000, over: 0.1, isBurst: false) }
        for _ in 0..<60 { estimate.observe(100, over: 0.1, isBurst: false) }
        #expect(estimate.value.map { (1000...1600).contains($0) } == true)
    }
}
