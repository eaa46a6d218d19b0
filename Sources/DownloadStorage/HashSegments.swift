import Foundation
import GRDB

/// The segments of `downloadByHash`, the index in which downloads are found by the hashes of their URLs. New downloads go into the
/// newest segment, so an addition writes few pages. Hashes lie anywhere in an index, and an addition to an index of all
/// downloads would write nearly all of its pages: adding a million took twice as long. Most segments have a filter of their
/// hashes, so that most look-ups can skip the segment.
struct HashSegments {
    struct Segment: Equatable {
        let number: Int64

        /// Returns the value of `download.hash` for a hash in this segment.
        func key(_ hash: Int64) -> Int64 { number << URLHash.bits | hash }
    }

    /// The hashes to look up in a segment.
    struct Search {
        let segment: Segment
        /// The indices of these hashes among all that are looked for.
        let places: [Int]
    }

    let db: Database

    /// A segment with at least this many downloads is full.
    static let capacity = 32_768
    /// The highest number of a segment: the keys of the next one would not be positive 64-bit integers. A row with
    /// another number is damaged, and is not used.
    static let last: Int64 = 1 << (63 - URLHash.bits) - 2
    /// The fewest hashes for which filters are read. Reading a filter takes as long as about 50 look-ups.
    private static let fewest = 50
    /// The fewest new downloads for which the filter of the newest segment is kept. Fewer downloads remove it, because writing
    /// it takes longer than adding them. It is made again when many downloads are added, or when the segment is full.
    private static let fewestKept = 250

    /// Counts new downloads in the newest segment, or in a new one if that is full, and adds their hashes to the segment's
    /// filter. Returns the segment. The caller then inserts the downloads.
    func take(_ hashes: [Int64]) throws -> Segment {
        let keepsFilter = hashes.count >= Self.fewestKept
        let finding = try db.cachedStatement(
            sql: """
                SELECT id, items, filter IS NULL, CASE WHEN ? AND typeof(filter) = 'blob' THEN filter END
                FROM segment WHERE \(Self.isUsable) ORDER BY id DESC LIMIT 1
                """)
        guard let row = try Row.fetchOne(finding, arguments: [keepsFilter]) else { return try begin(0, hashes) }
        let number: Int64 = row[0]
        let items = max(0, min(Int.fromDatabaseValue(row[1]) ?? Self.capacity, Self.capacity))
        if items == Self.capacity, number < Self.last {
            if row[2] {
                try db.cachedStatement(sql: "UPDATE segment SET filter = ? WHERE id = ?")
                    .execute(arguments: [Data(try made(of: number).bytes), number])
            }
            return try begin(number + 1, hashes)
        }
        var filter: HashFilter?
        if keepsFilter {
            let kept = Data.fromDatabaseValue(row[3]).map { HashFilter(bytes: Array($0)) }
            filter = try kept.flatMap { $0.suits(Self.capacity) ? $0 : nil } ?? made(of: number)
            filter?.insert(hashes)
        }
        try db.cachedStatement(sql: "UPDATE segment SET items = ?, filter = ? WHERE id = ?")
            .execute(arguments: [items + hashes.count, filter.map { Data($0.bytes) }, number])
        return Segment(number: number)
    }

    /// Makes the segment for new downloads.
    private func begin(_ number: Int64, _ hashes: [Int64]) throws -> Segment {
        var filter: HashFilter?
        if hashes.count >= Self.fewestKept {
            var new = HashFilter(count: max(Self.capacity, hashes.count))
            new.insert(hashes)
            filter = new
        }
        try db.cachedStatement(sql: "INSERT INTO segment (id, items, filter) VALUES (?, ?, ?)")
            .execute(arguments: [number, hashes.count, filter.map { Data($0.bytes) }])
        return Segment(number: number)
    }

    /// Makes a filter of the downloads in a segment.
    private func made(of segment: Int64) throws -> HashFilter {
        let counting = try db.cachedStatement(sql: "SELECT count(*) FROM download WHERE \(Self.keys("?1"))")
        let count = try Int.fetchOne(counting, arguments: [segment]) ?? 0
        var filter = HashFilter(count: max(Self.capacity, count))
        let statement = try db.cachedStatement(sql: "SELECT hash FROM download WHERE \(Self.keys("?1"))")
        let keys = try Int64.fetchCursor(statement, arguments: [segment])
        while let key = try keys.next() { filter.insert(key & (1 << URLHash.bits - 1)) }
        return filter
    }

    /// Returns the segments that may have downloads with these hashes.
    func searches(_ hashes: [Int64]) throws -> [Search] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, CASE WHEN ? AND typeof(filter) = 'blob' THEN filter END FROM segment
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

    /// Deletes the segments whose downloads are all gone, except the newest one, so that numbers are not used again.
    func forget() throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM segment WHERE \(Self.isUsable)
                    AND id < (SELECT max(id) FROM segment WHERE \(Self.isUsable))
                    AND NOT EXISTS (SELECT 1 FROM download WHERE \(Self.keys("segment.id")))
                """
        ).execute()
    }

    private static let isUsable = "segment.id BETWEEN 0 AND \(last)"

    /// Returns the SQL condition that a row of `download` is in a segment.
    private static func keys(_ segment: String) -> String {
        "hash BETWEEN \(segment) << \(URLHash.bits) AND (\(segment) + 1 << \(URLHash.bits)) - 1"
    }
}
