/// The part of a file that the connections of a stream may fetch now. The reader of the stream moves it.
struct StreamWindow: Sendable, Equatable {
    /// The size in bytes.
    let size: Int64
    /// The offset of its end.
    var end: Int64
    /// Whether the reader has got all bytes up to the first gap, so that the first missing bytes are urgent.
    var readerWaits = true

    /// Returns the next part of a gap that one of several connections may fetch; empty if the window ends before it.
    func part(of gap: Range<Int64>, upTo length: Int64) -> Range<Int64> {
        if isFull(from: gap.lowerBound), end < gap.upperBound { return gap.lowerBound..<gap.lowerBound }
        // A small rest is not worth a request.
        let rest = Int64(gap.count) - length
        let part = rest < SegmentPlanner.crumb ? gap : gap.lowerBound..<gap.lowerBound + length
        return part.lowerBound..<max(part.lowerBound, min(part.upperBound, end))
    }

    /// Whether the window ends so soon after an offset that a request from there on is not worth while.
    func isFull(from offset: Int64) -> Bool { end - offset < SegmentPlanner.crumb }
}
