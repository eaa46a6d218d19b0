/// A set of bytes of one file.
package struct ByteRanges: Sendable, Equatable {
    private var bytes = RangeSet<Int64>()

    package init() {}

    package init(_ ranges: some Sequence<Range<Int64>>) { bytes = RangeSet(ranges) }

    private init(bytes: RangeSet<Int64>) { self.bytes = bytes }

    /// The sorted half-open ranges of offsets, which neither overlap nor touch.
    package var ranges: RangeSet<Int64>.Ranges { bytes.ranges }

    package var isEmpty: Bool { bytes.isEmpty }

    package var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    /// The offset after the last byte; 0 for the empty set.
    package var end: Int64 { ranges.last?.upperBound ?? 0 }

    /// The number of bytes from offset 0 up to the first gap.
    package var prefix: Int64 {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    package func contains(_ range: Range<Int64>) -> Bool {
        if range.isEmpty { return true }
        guard let index = indexOfFirst(endingAfter: range.lowerBound) else { return false }
        return ranges[index].lowerBound <= range.lowerBound && range.upperBound <= ranges[index].upperBound
    }

    /// Returns whether the set has any byte of `range`.
    package func overlaps(_ range: Range<Int64>) -> Bool {
        indexOfFirst(endingAfter: range.lowerBound).map { ranges[$0].lowerBound < range.upperBound } ?? false
    }

    package mutating func insert(_ range: Range<Int64>) { bytes.insert(contentsOf: range) }

    package mutating func remove(_ range: Range<Int64>) { bytes.remove(contentsOf: range) }

    package func union(_ other: ByteRanges) -> ByteRanges { ByteRanges(bytes: bytes.union(other.bytes)) }

    /// Returns the bytes of `whole` that are not in this set.
    package func missing(in whole: Range<Int64>) -> ByteRanges {
        ByteRanges(bytes: RangeSet([whole]).subtracting(bytes))
    }

    package func intersection(_ other: ByteRanges) -> ByteRanges { ByteRanges(bytes: bytes.intersection(other.bytes)) }

    /// Returns the bytes below `end`.
    package func clipped(to end: Int64) -> ByteRanges {
        var result = self
        if self.end > end { result.remove(max(0, end)..<self.end) }
        return result
    }

    private func indexOfFirst(endingAfter offset: Int64) -> Int? {
        let index = ranges.partitioningIndex { $0.upperBound > offset }
        return index < ranges.count ? index : nil
    }
}

extension RandomAccessCollection where Index == Int {
    /// Returns the first index of an element for which the condition holds, or `endIndex`, by binary search. The
    /// condition must not hold for the first elements, and then hold for all others.
    func partitioningIndex(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// The stored form is `[[0,100],[200,300]]`. Decoding throws if a pair is not a range of offsets that are 0 or more.
/// Ranges that overlap or touch are merged.
extension ByteRanges: Codable {
    package init(from decoder: any Decoder) throws {
        let pairs = try [[Int64]](from: decoder)
        self.init()
        for pair in pairs {
            guard pair.count == 2, pair[0] >= 0, pair[0] <= pair[1] else {
                throw decoder.failure("not a byte range: \(pair)")
            }
            insert(pair[0]..<pair[1])
        }
    }

    package func encode(to encoder: any Encoder) throws {
        try ranges.map { [$0.lowerBound, $0.upperBound] }.encode(to: encoder)
    }
}
