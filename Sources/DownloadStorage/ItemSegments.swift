import Foundation
import GRDB

/// The segments of `itemByHash`, the index in which items are found by the hashes of their URLs. New items go into the
/// newest segment, so an addition writes few pages. Hashes lie anywhere in an index, and an addition to an index of all
/// items would write nearly all of its pages: adding a million took twice as long. A full segment gets a filter of its
/// hashes, so that most look-ups can skip the segment.
struct ItemSegments {
    struct Segment: Equatable {
        let number: Int64

        /// Returns the value of `item.hash` for a hash in this segment.
        func key(_ hash: Int64) -> Int64 { number << ItemHash.bits | hash }
    }

    /// The hashes to look up in a segment.
    struct Search {
        let segment: Segment
        /// The indices of these hashes among all that are looked for.
        let places: [Int]
    }

    let db: Database

    /// A segment with at least this many items is full.
    static let capacity = 32_768
    /// The highest number of a segment: the keys of the next one would not be positive 64-bit integers. A row with
    /// another number is damaged, and is not used.
    static let last: Int64 = 1 << (63 - ItemHash.bits) - 2
    /// The fewest hashes for which filters are read. Reading a filter takes as long as about 50 look-ups.
    private static let fewest = 50

    /// Counts new items in the newest segment, or in a new one if that is full. Returns the segment.
    func take(_ count: Int) throws -> Segment {
        let finding = try db.cachedStatement(
            sql: "SELECT id, items FROM itemSegment WHERE \(Self.isUsable) ORDER BY id DESC LIMIT 1")
        var number: Int64 = 0
        if let row = try Row.fetchOne(finding) {
            number = row[0]
            let items = Int.fromDatabaseValue(row[1]) ?? Self.capacity
            if items < Self.capacity || number == Self.last {
                // A filter would lack the new items. Only a damaged segment has one here.
                try db.cachedStatement(sql: "UPDATE itemSegment SET items = ?, filter = NULL WHERE id = ?")
                    .execute(arguments: [max(0, min(items, Self.capacity)) + count, number])
                return Segment(number: number)
            }
            try close(number)
            number += 1
        }
        try db.cachedStatement(sql: "INSERT INTO itemSegment (id, items) VALUES (?, ?)")
            .execute(arguments: [number, count])
        return Segment(number: number)
    }

    /// Gives a full segment its filter.
    private func close(_ segment: Int64) throws {
        let counting = try db.cachedStatement(sql: "SELECT count(*) FROM item WHERE \(Self.keys("?1"))")
        var filter = HashFilter(count: try Int.fetchOne(counting, arguments: [segment]) ?? 0)
        let statement = try db.cachedStatement(sql: "SELECT hash FROM item WHERE \(Self.keys("?1"))")
        let keys = try Int64.fetchCursor(statement, arguments: [segment])
        while let key = try keys.next() { filter.insert(key & (1 << ItemHash.bits - 1)) }
        try db.cachedStatement(sql: "UPDATE itemSegment SET filter = ? WHERE id = ?")
            .execute(arguments: [Data(filter.bytes), segment])
    }

    /// Returns the segments that may have items with these hashes.
    func searches(_ hashes: [Int64]) throws -> [Search] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, CASE WHEN ? AND typeof(filter) = 'blob' THEN filter END FROM itemSegment
                WHERE \(Self.isUsable) ORDER BY id
                """)
        let rows = try Row.fetchCursor(statement, arguments: [hashes.count >= Self.fewest])
        var searches: [Search] = []
        while let row = try rows.next() {
            let filter = Data.fromDatabaseValue(row[1]).map { HashFilter(bytes: Array($0)) }
            let places = filter.map { filter in hashes.indices.filter { filter.mayHave(hashes[$0]) } }
            if places?.isEmpty == true { continue }
            searches.append(Search(segment: Segment(number: row[0]), places: places ?? Array(hashes.indices)))
        }
        return searches
    }

    /// Deletes the full segments whose items are all gone.
    func forget() throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM itemSegment WHERE filter IS NOT NULL AND \(Self.isUsable)
                    AND NOT EXISTS (SELECT 1 FROM item WHERE \(Self.keys("itemSegment.id")))
                """
        ).execute()
    }

    private static let isUsable = "itemSegment.id BETWEEN 0 AND \(last)"

    /// Returns the SQL condition that a row of `item` is in a segment.
    private static func keys(_ segment: String) -> String {
        "hash BETWEEN \(segment) << \(ItemHash.bits) AND (\(segment) + 1 << \(ItemHash.bits)) - 1"
    }
}
