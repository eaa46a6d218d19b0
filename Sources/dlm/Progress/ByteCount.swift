/// Sums and differences of sizes that come from servers and other processes. Those too large for an `Int64` become its
/// limit.
extension Int64 {
    func adding(_ other: Int64) -> Int64 { Int64(clamping: Int128(self) + Int128(other)) }
    func subtracting(_ other: Int64) -> Int64 { Int64(clamping: Int128(self) - Int128(other)) }
}
