/// The range of the file that one transfer brings, and which of its bytes count as received.
struct SegmentRange {
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
        self.position = position
        self.end = end
        (countedFrom, countedTo) = counted
    }

    /// Records the range of the answer. The bytes of an answer with another range than requested all count.
    mutating func begin(at offset: Int64, end: Int64?, countsAll: Bool) {
        if countsAll { countedFrom = offset }
        position = offset
        self.end = end
    }

    mutating func advance(by count: Int) { position += Int64(count) }

    /// Ends the request at an offset. Returns the new end, and whether the transfer is there already. A transfer that
    /// is still comparing the bytes before its range can end at once.
    mutating func shorten(to end: Int64) -> (last: Int64, isThere: Bool) {
        let last = max(end, position)
        cut = last
        return (last, max(position, countedFrom) >= end)
    }

    /// Returns why the next `count` bytes are refused, or nil if they are not.
    func refusal(of count: Int, maximumSize: Int64?) -> SegmentWriter.Refusal? {
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

    /// The range of new bytes that came, without the bytes that came only to be compared.
    var brought: Range<Int64> { countedFrom..<max(countedFrom, min(position, countedTo)) }

    /// Returns the bytes that have not come; nil if their end is not known.
    /// - Parameter asked: The end that was asked for; nil to use the end of the answer.
    func unfinished(asked: Int64?) -> Range<Int64>? { (cut ?? asked ?? end).map { min(position, $0)..<$0 } }
}
