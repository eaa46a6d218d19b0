import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("SegmentPlanner: requests that fetch almost nothing", .inTurn)
struct SegmentPlannerBudgetTests {
    private static let mib: Int64 = 1 << 20

    /// Returns a planner with `count` connections, each with 16 MiB. The first connection has fetched its first 4 MiB.
    private func planner(_ count: Int, fruitlessLimit: Int = 3) -> SegmentPlanner {
        var planner = SegmentPlanner(
            missing: ByteRanges([0..<Int64(count) * 16 * Self.mib]), first: (0, 0..<4 * Self.mib), wish: count,
            fruitlessLimit: fruitlessLimit, now: 0)
        planner.answered(0, after: 0.01, at: 0)
        _ = planner.handle(.tick, at: 0)
        for connection in 1..<count { planner.answered(connection, after: 0.01, at: 0) }
        return planner
    }

    @Test("The only connection requests the same part up to the limit")
    func alone() {
        var planner = planner(1)
        let rest = 4 * Self.mib..<16 * Self.mib
        #expect(
            planner.handle(.ended(0, position: rest.lowerBound, .complete), at: 1) == [.ask(connection: 0, range: rest)]
        )
        for _ in 1...2 {
            #expect(
                planner.handle(.ended(0, position: rest.lowerBound, .complete), at: 1)
                    == [.ask(connection: 0, range: rest)])
        }
        #expect(planner.handle(.ended(0, position: rest.lowerBound, .complete), at: 1).isEmpty)
        #expect(planner.connections.isEmpty && !planner.isDone && planner.free == ByteRanges([rest]))
        #expect(planner.handle(.tick, at: 2).isEmpty)
    }

    @Test("One byte of many is not progress, but the last missing byte is")
    func byteByByte() {
        var planner = planner(1)
        var position = 4 * Self.mib
        _ = planner.handle(.ended(0, position: position, .complete), at: 1)
        var requests = 0
        while requests < 100 {
            position += 1
            requests += 1
            if planner.handle(.ended(0, position: position, .complete), at: 1).isEmpty { break }
        }
        #expect(requests == 3)
        var last = self.planner(1)
        _ = last.handle(.ended(0, position: 16 * Self.mib - 1, .complete), at: 1)
        #expect(last.handle(.ended(0, position: 16 * Self.mib, .complete), at: 1).isEmpty)
        #expect(last.isDone)
    }

    @Test("If nothing more comes of one part, the requests for it are limited, and all other parts are finished")
    func several() {
        var planner = planner(3, fruitlessLimit: 2)
        let hole = 4 * Self.mib
        _ = planner.handle(.ended(0, position: hole, .complete), at: 1)
        var requests = 3
        var fruitless = 0
        // The first connection fetches nothing more, and neither does any other connection that requests its part.
        var running: [Int: Range<Int64>] = [0: hole..<16 * Self.mib]
        for connection in planner.connections where connection.id > 0 {
            running[connection.id] = connection.position..<connection.leaseEnd
        }
        var time = 1.0
        while let (id, range) = running.min(by: { $0.value.lowerBound < $1.value.lowerBound }), requests < 100 {
            running[id] = nil
            time += 0.01
            let isHole = range.lowerBound == hole
            fruitless += isHole ? 1 : 0
            let decisions = planner.handle(
                .ended(id, position: isHole ? hole : range.upperBound, .complete), at: time)
            for decision in decisions {
                guard case .ask(let id, let range) = decision else { continue }
                requests += 1
                running[id] = range
            }
        }
        // At most these requests are fruitless: two of the budget, one for each request that made progress, and a last
        // one of each connection.
        #expect(fruitless <= 2 + (requests - fruitless) + 3, "\(requests) requests")
        #expect(!planner.isDone && planner.connections.isEmpty)
    }
}
