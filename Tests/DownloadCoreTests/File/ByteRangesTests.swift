import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@Suite(.inTurn, .serialized) struct ByteRangesTests {
    @Test("The empty set has no members, prefix or end")
    func empty() {
        for set in [ByteRanges(), ByteRanges([]), ByteRanges([5..<5, 0..<0])] {
            #expect(set.isEmpty)
            #expect(set.count == 0)
            #expect(set.end == 0)
            #expect(set.prefix == 0)
            #expect(set.contains(3..<3))
            #expect(!set.contains(0..<1))
            #expect(set.missing(in: 2..<9).ranges.elementsEqual([2..<9]))
            #expect(set.missing(in: 2..<2).isEmpty)
            #expect(set.clipped(to: 0).isEmpty)
            #expect(set.clipped(to: -1).isEmpty)
        }
    }

    @Test(
        "Ranges that overlap or touch are merged",
        arguments: [
            ([0..<5, 5..<9], [0..<9]), ([5..<9, 0..<5], [0..<9]), ([0..<5, 6..<9], [0..<5, 6..<9]),
            ([0..<9, 3..<4], [0..<9]), ([3..<4, 0..<9], [0..<9]), ([0..<3, 6..<9, 2..<7], [0..<9]),
            ([0..<3, 6..<9, 3..<6], [0..<9]), ([1..<2, 3..<4, 5..<6, 0..<9], [0..<9]),
            ([1..<2, 3..<4, 5..<6, 2..<3], [1..<4, 5..<6]), ([7..<7], []), ([0..<Int64.max], [0..<Int64.max]),
            ([Int64.max - 1..<Int64.max, 0..<1], [0..<1, Int64.max - 1..<Int64.max]),
        ] as [([Range<Int64>], [Range<Int64>])])
    func merging(_ inserted: [Range<Int64>], _ expected: [Range<Int64>]) {
        #expect(ByteRanges(inserted).ranges.elementsEqual(expected))
    }

    @Test("The set behaves like a set of numbers under random operations", arguments: 1...8 as ClosedRange<UInt64>)
    func model(_ seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let space: Int64 = seed.isMultiple(of: 2) ? 40 : 200
        func randomRange() -> Range<Int64> {
            let lower = Int64.random(in: 0..<space, using: &generator)
            return lower..<Int64.random(in: lower...min(space, lower + space / 5), using: &generator)
        }
        var set = ByteRanges()
        var model: Set<Int64> = []
        for step in 0..<2000 {
            let range = randomRange()
            if Bool.random(using: &generator) {
                set.insert(range)
                model.formUnion(range)
            } else {
                set.remove(range)
                model.subtract(range)
            }
            let probe = randomRange()
            let other = ByteRanges([randomRange(), randomRange()])
            let end = Int64.random(in: -1...space + 1, using: &generator)
            let whole = Set(probe)
            let agrees =
                isCanonical(set) && members(set) == model && set.count == Int64(model.count)
                && set.isEmpty == model.isEmpty && set.end == (model.max().map { $0 + 1 } ?? 0)
                && set.prefix == ((0...space).first { !model.contains($0) } ?? 0)
                && set.contains(probe) == model.isSuperset(of: whole)
                && isCanonical(set.union(other)) && members(set.union(other)) == model.union(members(other))
                && isCanonical(set.missing(in: probe)) && members(set.missing(in: probe)) == whole.subtracting(model)
                && isCanonical(set.clipped(to: end)) && members(set.clipped(to: end)) == model.filter { $0 < end }
                && ByteRanges(set.ranges.shuffled(using: &generator)) == set
            if !agrees {
                Issue.record("step \(step): \(set.ranges), probe \(probe), other \(other.ranges), end \(end)")
                return
            }
        }
    }

    @Test("The set is encoded as pairs of offsets")
    func codable() throws {
        let set = ByteRanges([0..<100, 200..<Int64.max])
        let data = try JSONEncoder().encode(set)
        #expect(String(decoding: data, as: UTF8.self) == "[[0,100],[200,9223372036854775807]]")
        #expect(try JSONDecoder().decode(ByteRanges.self, from: data) == set)
        #expect(try JSONDecoder().decode(ByteRanges.self, from: JSONEncoder().encode(ByteRanges())).isEmpty)
    }

    @Test("Pairs in another order are decoded as a canonical set", arguments: ["[[5,9],[0,5]]", "[[0,7],[2,9],[3,3]]"])
    func canonical(_ json: String) throws {
        #expect(try JSONDecoder().decode(ByteRanges.self, from: Data(json.utf8)).ranges.elementsEqual([0..<9]))
    }

    @Test(
        "JSON that is not a set of ranges is refused",
        arguments: [
            "[[5,4]]", "[[-1,4]]", "[[-9,-4]]", "[[0]]", "[[]]", "[[0,1,2]]", "[0,1]", "{}", "null", "[[0,1.5]]",
            "[[0,\"1\"]]", "[[0,9223372036854775808]]", "[[0,1],[3,2]]", "[[0,null]]",
        ])
    func refuses(_ json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ByteRanges.self, from: Data(json.utf8)) }
    }

    private func members(_ set: ByteRanges) -> Set<Int64> { Set(set.ranges.joined()) }

    /// Returns whether the ranges are sorted, disjoint, not adjacent and not empty.
    private func isCanonical(_ set: ByteRanges) -> Bool {
        set.ranges.allSatisfy { !$0.isEmpty }
            && zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
    }
}
