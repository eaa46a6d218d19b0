import DownloadCore

/// The range of the file that one transfer fetches. A part of the range counts as received; the other bytes are only
/// compared.
struct SegmentRange {
    /// The offset of the first byte of the answer.
    private(set) var start: Int64
    /// The offset of the next byte.
    private(set) var position: Int64
    /// The offset after the last byte of the answer; nil if it is not known.
    private(set) var end: Int64?
    /// The new end of the request, if it was shortened while the transfer was running.
    private(set) var cut: Int64?
    /// The offset before which bytes are only compared and do not count as received.
    private(set) var countedFrom: Int64
    /// The offset from which bytes are only compared and do not count as received.
    private let countedTo: Int64

    init(position: Int64, end: Int64?, counted: (from: Int64, to: Int64)) {
        (start, self.position) = (position, position)
        self.end = end
        (countedFrom, countedTo) = counted
    }

    /// Records the range of the answer.
    /// - Parameter countsAll: Whether all bytes of the answer count as received, because its range is not the requested
    ///   one.
    mutating func begin(at offset: Int64, end: Int64?, countsAll: Bool) {
        if countsAll { countedFrom = offset }
        (start, position) = (offset, offset)
        self.end = end
    }

    mutating func advance(by count: Int) { position += Int64(count) }

    /// Ends the request at an offset. Returns the new end, and whether the transfer has reached it already. A
    /// transfer that is still comparing the bytes before its range can end at once.
    mutating func shorten(to end: Int64) -> (last: Int64, isThere: Bool) {
        let last = max(end, position)
        cut = last
        return (last, max(position, countedFrom) >= end)
    }

    /// Returns the reason why the next `count` bytes are refused. Returns nil if they are accepted.
    func refusal(of count: Int, maximumSize: Int64?) -> EndedTransfer.Refusal? {
        let next = position + Int64(count)
        if let end, next > end { return .tooLong }
        if let maximumSize, next > maximumSize { return .tooLarge }
        return nil
    }

    /// The number of bytes until the cut; unlimited without a cut.
    var wanted: Int { cut.map { Int(max(0, $0 - position)) } ?? .max }

    /// Returns how many of the next `count` bytes count as received.
    func counted(of count: Int) -> Int {
        Int(max(0, min(position + Int64(count), countedTo) - max(position, countedFrom)))
    }

    /// The range of the new bytes that have come, without the bytes that are only compared.
    var brought: Range<Int64> { countedFrom..<max(countedFrom, min(position, countedTo)) }

    /// Returns the bytes that have not come; nil if their end is not known.
    /// - Parameter asked: The end of the requested range; nil to use the end of the answer.
    func unfinished(asked: Int64?) -> Range<Int64>? { (cut ?? asked ?? end).map { min(position, $0)..<$0 } }
}
