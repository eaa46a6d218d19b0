import DownloadCore

/// The identifier of a download in aria2: 64 bits, written as 16 hexadecimal digits. The usual GID is computed from the
/// download's number by a reversible permutation. So the usual GIDs need no table, and a few digits are enough to
/// distinguish downloads.
struct GID: Sendable, Hashable, CustomStringConvertible {
    let value: UInt64

    init(value: UInt64) { self.value = value }

    /// Creates the usual GID of a download.
    init(_ id: DownloadID) {
        var mixed = UInt64(bitPattern: id.rawValue) &+ Self.offset
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        value = mixed ^ mixed >> 31
    }

    /// Reads 16 hexadecimal digits.
    init?(_ text: String) {
        guard text.utf8.count == Self.digits, Self.isPrefix(text), let value = UInt64(text, radix: 16), value != 0
        else {
            return nil
        }
        self.value = value
    }

    static let digits = 16
    private static let offset: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The number of the download that has this usual GID. There may be no such download.
    var id: DownloadID {
        var mixed = value
        mixed = mixed ^ mixed >> 31 ^ mixed >> 62
        mixed = mixed &* 0x3196_42B2_D24D_8EC3
        mixed = mixed ^ mixed >> 27 ^ mixed >> 54
        mixed = mixed &* 0x96DE_1B17_3F11_9089
        mixed = mixed ^ mixed >> 30 ^ mixed >> 60
        return DownloadID(rawValue: Int64(bitPattern: mixed &- Self.offset))
    }

    /// Returns whether a text can be a GID or the beginning of a GID.
    static func isPrefix(_ text: String) -> Bool {
        (1...digits).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (48...57).contains($0) || (65...70).contains($0) || (97...102).contains($0)
            }
    }

    var description: String { value.padded(Self.digits, radix: 16) }
}
