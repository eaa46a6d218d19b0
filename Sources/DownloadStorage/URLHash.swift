/// The hash by which downloads are found. An index of numbers is smaller and cheaper to write than an index of URLs. Two
/// URLs may have the same hash, so the caller compares the URLs.
enum URLHash {
    static let bits: Int64 = 40

    /// Returns the lower bits of the FNV-1a hash of the bytes. The function must never change, because stores keep the
    /// hashes.
    static func of(_ url: String) -> Int64 {
        var url = url
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        url.withUTF8 { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 } }
        return Int64(hash & (1 << bits - 1))
    }

    /// Returns the value of `download.hash` for a hash in a segment of the index (``HashSegments``).
    static func key(_ hash: Int64, in segment: Int64) -> Int64 { segment << bits | hash }
}
