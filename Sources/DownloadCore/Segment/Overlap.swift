/// The bytes around a wanted range that a request fetches again. They are compared with the bytes on disk. This
/// detects, at the joins of two parts, a server that sends bytes from another place than it says.
package enum Overlap {
    /// The number of bytes compared if nothing else distinguishes two versions of the file.
    package static let unproven: Int64 = 64 << 10
    /// The number of bytes compared at the end of the bytes of an earlier attempt.
    package static let resumed: Int64 = 16 << 10
    /// The number of bytes compared at a join of two answers of one attempt.
    package static let joined: Int64 = 512

    /// Returns where a request for the bytes from `start` on begins. That is at most `size` bytes earlier, within the
    /// run of bytes that ends at `start`.
    package static func start(before start: Int64, held: ByteRanges, size: Int64) -> Int64 {
        guard start > 0, let run = held.ranges.last(where: { $0.contains(start - 1) }) else { return start }
        return max(run.lowerBound, start - size)
    }

    /// Returns where the request of one of several connections begins. Bytes that are not on disk yet are fetched, too,
    /// so that the connection that brings them later is compared with them.
    package static func startOfPart(before start: Int64, held: ByteRanges, size: Int64) -> Int64 {
        min(self.start(before: start, held: held, size: size), max(0, start - joined))
    }

    /// Returns where a request for the bytes up to `end` ends. That is a little later, within the run of bytes that
    /// begins at `end`.
    package static func end(after end: Int64, held: ByteRanges) -> Int64 {
        guard let run = held.ranges.first(where: { $0.contains(end) }) else { return end }
        return min(run.upperBound, end + joined)
    }

    /// Returns the first and the last bytes of every answer. Fetched again, they are compared with the bytes between
    /// them.
    package static func edges(of answers: [Range<Int64>]) -> ByteRanges {
        var edges = ByteRanges()
        for answer in answers where !answer.isEmpty {
            edges.insert(answer.lowerBound..<min(answer.upperBound, answer.lowerBound + resumed))
            edges.insert(max(answer.lowerBound, answer.upperBound - resumed)..<answer.upperBound)
        }
        return edges
    }
}
