import DownloadCore

/// The bytes around a wanted range that a request fetches again, to compare them with the bytes on disk. The comparison
/// at the join of two parts detects a server that sends bytes from another place than it says.
package enum Overlap {
    /// The number of bytes compared if nothing else distinguishes two versions of the file.
    package static let unproven: Int64 = 64 << 10
    /// The number of bytes compared at the end of the bytes of an earlier attempt.
    package static let resumed: Int64 = 16 << 10
    /// The number of bytes compared at a join of two answers of one attempt.
    package static let joined: Int64 = 512

    /// Returns the offset at which a request for the bytes from `start` on begins. The offset is at most `size` bytes
    /// before `start`, and all bytes between the two are in `held`.
    package static func start(before start: Int64, held: ByteRanges, size: Int64) -> Int64 {
        guard start > 0, let run = held.ranges.last(where: { $0.contains(start - 1) }) else { return start }
        return max(run.lowerBound, start - size)
    }

    /// Returns the offset at which a request of one of several connections begins. The bytes just before `start` are
    /// fetched even if they are not on disk yet. The bytes that another connection brings for this place later are
    /// compared with them.
    package static func startOfPart(before start: Int64, held: ByteRanges, size: Int64) -> Int64 {
        min(self.start(before: start, held: held, size: size), max(0, start - joined))
    }

    /// Returns the offset at which a request for the bytes up to `end` ends. It is at most ``joined`` bytes after
    /// `end`, and all bytes between the two are in `held`.
    package static func end(after end: Int64, held: ByteRanges) -> Int64 {
        guard let run = held.ranges.first(where: { $0.contains(end) }) else { return end }
        return min(run.upperBound, end + joined)
    }

    /// Returns the ranges at the beginning and at the end of every answer, which the caller fetches again. Each of
    /// these requests also fetches the bytes beside its range, and they are compared with the bytes on disk.
    package static func edges(of answers: [Range<Int64>]) -> ByteRanges {
        var edges = ByteRanges()
        for answer in answers where !answer.isEmpty {
            edges.insert(answer.lowerBound..<min(answer.upperBound, answer.lowerBound + resumed))
            edges.insert(max(answer.lowerBound, answer.upperBound - resumed)..<answer.upperBound)
        }
        return edges
    }
}
