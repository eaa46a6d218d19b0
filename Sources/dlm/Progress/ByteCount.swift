/// Sums and differences of sizes that come from servers and other processes. They may be too large for an `Int64`.
extension Int64 {
    /// Returns the sum, or the limit of `Int64` that the sum exceeds.
    func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the limit of `Int64` that the difference exceeds.
    func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
