import DownloadCore
import DownloadEngine
import DownloadTestSupport
import Foundation
import Testing

/// Values that are stored as JSON, after somebody changed them.
@Suite("Fuzzing: stored values", .inTurn)
struct RecordFuzzTests {
    @Test("Byte ranges: a set that is read is canonical, and is the same after it is written and read again")
    func byteRanges() throws {
        let corpus = ["[[0,100],[200,300]]", "[]", "[[0,9223372036854775807]]", "[[5,9],[0,5]]"]
        Fuzzing("Byte ranges", corpus: corpus, words: ["[0,1],", "[[", "]]"]).run { input in
            guard let set = try? JSONDecoder().decode(ByteRanges.self, from: Data(input)) else { return nil }
            let isCanonical =
                set.ranges.allSatisfy { !$0.isEmpty && $0.lowerBound >= 0 }
                && zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
            let whole = 0..<Int64.max
            guard isCanonical, set.count >= 0, set.count + set.missing(in: whole).count == .max,
                set.contains(0..<set.prefix), set.clipped(to: set.end) == set
            else { return "\(set.ranges)" }
            let again = try? JSONDecoder().decode(ByteRanges.self, from: JSONEncoder().encode(set))
            return again == set ? nil : "not read again"
        }
    }

    @Test(
        "A set of ranges near the largest offset behaves like a set near zero",
        arguments: 1...4 as ClosedRange<UInt64>)
    func limits(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let shift = Int64.max - 300
        var (low, high) = (ByteRanges(), ByteRanges())
        for step in 0..<2000 {
            let lower = Int64.random(in: 0..<300, using: &random)
            let range = lower..<Int64.random(in: lower...300, using: &random)
            let moved = range.lowerBound + shift..<range.upperBound + shift
            if Bool.random(using: &random) {
                low.insert(range)
                high.insert(moved)
            } else {
                low.remove(range)
                high.remove(moved)
            }
            let same = low.ranges.map { $0.lowerBound + shift..<$0.upperBound + shift } == high.ranges
            if !same || low.count != high.count || low.contains(range) != high.contains(moved) {
                Issue.record("step \(step), seed \(seed): \(low.ranges) and \(high.ranges)")
                return
            }
        }
    }

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
