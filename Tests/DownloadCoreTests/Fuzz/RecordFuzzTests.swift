import DownloadCore
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
            let same = low.ranges.map { $0.lowerBound + shift..<$0.upperBound + shift } == Array(high.ranges)
            if !same || low.count != high.count || low.contains(range) != high.contains(moved) {
                Issue.record("step \(step), seed \(seed): \(low.ranges) and \(high.ranges)")
                return
            }
        }
    }
}
