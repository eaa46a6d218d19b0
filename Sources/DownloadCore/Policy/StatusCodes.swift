/// A list of HTTP status codes, as users write it: `403,520-529`.
public struct StatusCodes: Sendable, Equatable {
    /// The ranges in the order in which they were given.
    package let ranges: [ClosedRange<Int>]

    private static let possible = 100...599

    /// Returns nil for an empty list, and for anything except numbers from 100 to 599 and their ranges.
    public init?(_ text: String) {
        var ranges: [ClosedRange<Int>] = []
        for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let ends = part.trimmingWhitespace().split(
                separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false
            ).map { $0.decimal }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last,
                let lower = Int(exactly: first), let upper = Int(exactly: last),
                Self.possible.contains(lower), Self.possible.contains(upper)
            else { return nil }
            ranges.append(lower...upper)
        }
        self.ranges = ranges
    }

    package func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

    /// Returns whether at least one of the given codes is in the list.
    package func overlaps(_ others: ClosedRange<Int>) -> Bool { ranges.contains { $0.overlaps(others) } }
}

extension StatusCodes: CustomStringConvertible {
    public var description: String { ranges.text(separator: ",") }
}

extension StatusCodes: Codable {
    public init(from decoder: any Decoder) throws {
        guard let codes = Self(try String(from: decoder)) else { throw decoder.failure("no status codes") }
        self = codes
    }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
