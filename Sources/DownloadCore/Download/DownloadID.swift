/// The number of a download. A store never uses a number again.
///
/// In JSON and in the store, the value is a bare number. Its members are inlinable, because the queue compares and
/// hashes numbers for each small file.
@frozen
public struct DownloadID: RawRepresentable, Codable, Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: Int64

    @inlinable
    public init(rawValue: Int64) { self.rawValue = rawValue }

    @inlinable
    package init(_ number: some BinaryInteger) { self.init(rawValue: Int64(number)) }

    @inlinable
    public static func == (id: Self, other: Self) -> Bool { id.rawValue == other.rawValue }

    @inlinable
    public static func < (id: Self, other: Self) -> Bool { id.rawValue < other.rawValue }

    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension DownloadID: LosslessStringConvertible, ExpressibleByIntegerLiteral, Strideable {
    /// Reads a decimal number; returns nil if the text is none.
    public init?(_ text: some StringProtocol) {
        guard let number = Int64(text) else { return nil }
        self.init(rawValue: number)
    }

    /// The number in decimal digits.
    public var description: String { rawValue.description }

    @inlinable
    public init(integerLiteral number: Int64) { self.init(rawValue: number) }

    @inlinable
    public func distance(to other: Self) -> Int { rawValue.distance(to: other.rawValue) }

    @inlinable
    public func advanced(by count: Int) -> Self { Self(rawValue: rawValue.advanced(by: count)) }
}
