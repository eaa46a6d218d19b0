import Foundation
import GRDB

/// A Bloom filter: a set that takes 10 bits for each hash, and reports 1.2 % of the absent hashes as present (Bloom,
/// "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970).
struct HashFilter: DatabaseValueConvertible {
    private(set) var bytes: [UInt8]
    private let bitCount: UInt64

    private static let bitsForEach = 10
    private static let bitsSet = 4

    /// Makes a filter without hashes.
    /// - Parameter count: The number of hashes that it will have.
    init(count: Int) { self.init(bytes: [UInt8](repeating: 0, count: Self.size(count))) }

    init(bytes: [UInt8]) {
        self.bytes = bytes
        bitCount = UInt64(bytes.count) * 8
    }

    var databaseValue: DatabaseValue { Data(bytes).databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> HashFilter? {
        Data.fromDatabaseValue(value).map { HashFilter(bytes: Array($0)) }
    }

    private static func size(_ count: Int) -> Int { count * bitsForEach / 8 + 1 }

    /// Whether the filter was made for so many hashes.
    func suits(_ count: Int) -> Bool { bytes.count == Self.size(count) }

    mutating func insert(_ hash: Int64) {
        var hash = UInt64(bitPattern: hash)
        for _ in 0..<Self.bitsSet {
            let bit = nextBit(of: &hash)
            bytes[bit / 8] |= 1 << (bit % 8)
        }
    }

    /// Returns false if the hash was surely not inserted.
    func mayHave(_ hash: Int64) -> Bool {
        if bytes.isEmpty { return true }
        var hash = UInt64(bitPattern: hash)
        for _ in 0..<Self.bitsSet {
            let bit = nextBit(of: &hash)
            if bytes[bit / 8] & 1 << (bit % 8) == 0 { return false }
        }
        return true
    }

    /// Mixes the bits of the hash, and returns the number of a bit. The function must never change, because stores keep
    /// the filters.
    private func nextBit(of hash: inout UInt64) -> Int {
        hash = (hash ^ hash >> 32) &* 0xD6E8_FEB8_6659_FD93
        return Int(((hash >> 32) &* bitCount) >> 32)
    }
}
