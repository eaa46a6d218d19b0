import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Testing

/// Files of random sizes over random numbers of connections.
@Suite("Fuzzing: the division of a file", .inTurn)
struct PlannerFuzzTests {
    @Test(
        "In a file of any size, each byte is requested once, and no byte beyond the end is requested",
        arguments: 1...40 as ClosedRange<UInt64>)
    func leases(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let connections = Int.random(in: 1...64, using: &random)
        let starts: [Int64] = [0, .max - (3 << 30), 1 << 62]
        let start = starts.randomElement(using: &random) ?? 0
        let missing = ByteRanges([start..<start + Int64.random(in: 1...3 << 30, using: &random)])
        var planner = SegmentPlanner(missing: missing, first: nil, wish: connections, now: 0)
        var asked = ByteRanges()
        var count: Int64 = 0
        var running: [(connection: Int, range: Range<Int64>)] = []
        var turn = 0.0
        repeat {
            var event = SegmentPlanner.Event.tick
            if !running.isEmpty {
                let (connection, range) = running.remove(at: Int.random(in: running.indices, using: &random))
                event = .ended(connection, position: range.upperBound, .complete)
                asked.insert(range)
                count += Int64(range.count)
            }
            for decision in planner.handle(event, at: turn) {
                switch decision {
                case .ask(let connection, let range): running.append((connection, range))
                case .duplicate: Issue.record("a range is requested twice, although no connection stalls")
                case .cut(let connection, let end):
                    guard let index = running.firstIndex(where: { $0.connection == connection }) else { continue }
                    running[index].range = running[index].range.lowerBound..<end
                }
            }
            turn += 0.001
        } while !running.isEmpty
        #expect(planner.isDone && asked == missing && count == missing.count)
    }
}
