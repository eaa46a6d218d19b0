import DownloadCore
import GRDB

/// The segments of `downloadByHash`, the index in which downloads are found by the hashes of their URLs
/// (docs/internals/store.md). New downloads go into the newest segment. Most segments have a filter of their hashes.
struct HashSegments {
    let db: Database

    /// A segment with at least this many downloads is full.
    static let capacity = 32_768
    /// The highest number of a segment: the keys of the next one would not be positive 64-bit integers. A row with
    /// another number is damaged, and is not used.
    static let last: Int64 = 1 << (63 - URLHash.bits) - 2
    /// The fewest hashes for which filters are read. Reading a filter takes as long as about 50 look-ups.
    private static let fewest = 50
    /// The fewest new downloads for which the filter of the newest segment is kept. Fewer downloads remove it, because
    /// writing it takes longer than adding them. It is made again when many downloads are added, or when the segment is
    /// full.
    private static let fewestKept = 250

    /// Counts new downloads in the newest segment, or in a new one if that is full, and adds their hashes to the segment's
    /// filter. The caller then inserts the downloads.
    /// - Returns: The number of the segment, for ``URLHash/key(_:in:)``.
    func take(_ hashes: [Int64]) throws -> Int64 {
        let keepsFilter = hashes.count >= Self.fewestKept
        var (segment, items, filter): (Int64, Int, HashFilter?) = (0, 0, nil)
        if let row = try db.row(
            """
            SELECT id, items, filter IS NULL, CASE WHEN ? AND typeof(filter) = 'blob' THEN filter END
            FROM segment WHERE \(Self.isUsable) ORDER BY id DESC LIMIT 1
            """, [keepsFilter])
        {
            segment = row[0]
            items = max(0, min(Int.fromDatabaseValue(row[1]) ?? Self.capacity, Self.capacity))
            if items == Self.capacity, segment < Self.last {
                if row[2] {
                    try db.run("UPDATE segment SET filter = ? WHERE id = ?", [made(of: segment), segment])
                }
                (segment, items) = (segment + 1, 0)
            } else if keepsFilter {
                let kept = HashFilter.fromDatabaseValue(row[3])
                filter = try kept.flatMap { $0.suits(Self.capacity) ? $0 : nil } ?? made(of: segment)
            }
        }
        if keepsFilter {
            filter = filter ?? HashFilter(count: max(Self.capacity, hashes.count))
            for hash in hashes { filter?.insert(hash) }
        }
        try db.run(
            "INSERT OR REPLACE INTO segment (id, items, filter) VALUES (?, ?, ?)",
            [segment, items + hashes.count, filter])
        return segment
    }

    /// Makes a filter of the downloads in a segment.
    private func made(of segment: Int64) throws -> HashFilter {
        let count: Int? = try db.value("SELECT count(*) FROM download WHERE \(Self.keys("?1"))", [segment])
        var filter = HashFilter(count: max(Self.capacity, count ?? 0))
        let statement = try db.cachedStatement(sql: "SELECT hash FROM download WHERE \(Self.keys("?1"))")
        let keys = try Int64.fetchCursor(statement, arguments: [segment])
        while let key = try keys.next() { filter.insert(key & (1 << URLHash.bits - 1)) }
        return filter
    }

    /// Returns the numbers of the segments that may have downloads with these hashes, each with the indices of the hashes
    /// that it may have.
    func searches(_ hashes: [Int64]) throws -> [(segment: Int64, places: [Int])] {
        let rows = try db.rows(
            """
            SELECT id, CASE WHEN ? AND typeof(filter) = 'blob' THEN filter END FROM segment
            WHERE \(Self.isUsable) ORDER BY id
            """, [hashes.count >= Self.fewest])
        var searches: [(segment: Int64, places: [Int])] = []
        while let row = try rows.next() {
            let filter = HashFilter.fromDatabaseValue(row[1])
            let places = filter.map { filter in hashes.indices.filter { filter.mayHave(hashes[$0]) } }
            if places?.isEmpty == true { continue }
            searches.append((row[0], places ?? Array(hashes.indices)))
        }
        return searches
    }

    /// Deletes the segments whose downloads are all gone, except the newest one, so that numbers are not used again.
    func forget() throws {
        try db.run(
            """
            DELETE FROM segment WHERE \(Self.isUsable)
                AND id < (SELECT max(id) FROM segment WHERE \(Self.isUsable))
                AND NOT EXISTS (SELECT 1 FROM download WHERE \(Self.keys("segment.id")))
            """)
    }

    private static let isUsable = "segment.id BETWEEN 0 AND \(last)"

    /// Returns the SQL condition that a row of `download` is in a segment.
    private static func keys(_ segment: String) -> String {
        "hash BETWEEN \(segment) << \(URLHash.bits) AND (\(segment) + 1 << \(URLHash.bits)) - 1"
    }
}
