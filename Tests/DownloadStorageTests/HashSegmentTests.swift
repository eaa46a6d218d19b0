import DownloadCore
import DownloadTestSupport
import Foundation
import GRDB
import Testing

@testable import DownloadStorage

@Suite("HashSegments: the index of downloads", .inTurn)
struct HashSegmentTests {
    let folder = TemporaryFolder()

    @Test("A filter has all its hashes, and few others", arguments: [1, 10, 1000, 50_000])
    func filter(count: Int) {
        // Hashes of names that differ in a few digits lie close together.
        let hashes = (0..<2 * count).map { URLHash.of("https://example.org/files/\($0)") }
        var filter = HashFilter(count: count)
        for hash in hashes[..<count] { filter.insert(hash) }
        let stored = HashFilter(bytes: filter.bytes)
        #expect(hashes[..<count].allSatisfy(stored.mayHave))
        #expect(hashes[count...].filter(stored.mayHave).count <= 1 + count / 50)
    }

    @Test("A filter without bits excludes nothing")
    func noBits() { #expect(HashFilter(bytes: []).mayHave(7)) }

    private func add(_ names: some Sequence<Int>, to store: SQLiteDownloadStore) async throws -> [AddedDownload] {
        try await store.add(names.map { try Sample.request("\($0)") }, session: "s")
    }

    private struct Segment: Equatable {
        var id: Int64
        var items: Int
        var hasFilter: Bool
    }

    /// Returns the segments that are recorded, each with the number of its items.
    private func segments(_ store: SQLiteDownloadStore) async throws -> [Segment] {
        try await store.perform { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, filter IS NOT NULL, (SELECT count(*) FROM download WHERE hash >> 40 = segment.id)
                    FROM segment ORDER BY id
                    """
            ).map { Segment(id: $0[0], items: $0[2], hasFilter: $0[1]) }
        }
    }

    @Test("A segment is full after its last addition, and items of all segments are found again")
    func fills() async throws {
        let store = try folder.open()
        let most = HashSegments.capacity
        _ = try await add(0..<most - 1, to: store)
        _ = try await add(most - 1..<most + 3, to: store)
        _ = try await add(most + 3..<most + 6, to: store)
        let expected = [Segment(id: 0, items: most + 3, hasFilter: true), Segment(id: 1, items: 3, hasFilter: false)]
        #expect(try await segments(store) == expected)
        for names in [[0, most, most + 1, most + 5], Array(most - 100..<most + 6)] {
            let again = try await add(names + [most + 7], to: store)
            #expect(again.map(\.id).dropLast() == names.map { DownloadID($0 + 1) }[...])
            #expect(again.dropLast().allSatisfy { $0.kind == .joined } && again.last.map { $0.kind } == .inserted)
            _ = try await store.remove([again.last?.id ?? 0], session: "s")
        }
    }

    @Test("Many new items go into the filter of the newest segment, and a few remove the filter for a while")
    func keepsFilter() async throws {
        let store = try folder.open()
        for (names, hasFilter) in [(0..<300, true), (300..<600, true), (600..<602, false), (602..<900, true)] {
            #expect(try await add(names, to: store).allSatisfy { $0.kind == .inserted })
            #expect(try await segments(store) == [Segment(id: 0, items: names.upperBound, hasFilter: hasFilter)])
            #expect(try await add(0..<names.upperBound, to: store).allSatisfy { $0.kind == .joined })
        }
        try await store.execute("UPDATE segment SET items = ?", [HashSegments.capacity])
        _ = try await add(900..<1200, to: store)
        #expect(try await segments(store).map(\.hasFilter) == [true, true])
        #expect(try await add(0..<1200, to: store).allSatisfy { $0.kind == .joined })
    }

    @Test("A segment is deleted with its last item, but the newest one stays")
    func forgets() async throws {
        let store = try folder.open()
        _ = try await add(0..<3, to: store)
        try await store.execute("UPDATE segment SET items = ?", [HashSegments.capacity])
        _ = try await add(3..<6, to: store)
        #expect(try await segments(store).map(\.id) == [0, 1])
        _ = try await store.remove([1, 2, 3, 4, 5, 6], session: "s")
        try await store.dropEvents(keeping: 0)
        #expect(try await segments(store).map(\.id) == [1])
        #expect(try await add(0..<6, to: store).allSatisfy { $0.kind == .inserted })
    }

    @Test(
        "With a damaged segment, new items are added and found again",
        arguments: [
            "items = 'a'", "items = \(Int64.max)", "items = \(Int64.min)", "filter = ''", "filter = 7",
            "filter = 'text'", "items = -1, filter = x''", "items = 5, filter = zeroblob(9)",
        ])
    func damaged(change: String) async throws {
        let store = try folder.open()
        _ = try await add(0..<100, to: store)
        try await store.execute("UPDATE segment SET \(change)")
        for count in [101, 102] {
            let again = try await add(0..<count, to: store)
            #expect(again.count == count && again.last?.kind == .inserted)
            // A filter without the items hides them, until an addition removes the filter.
            if count == 102 || !change.contains("zeroblob") {
                #expect(again.dropLast().allSatisfy { $0.kind == .joined })
            }
        }
    }

    @Test(
        "The last and impossible numbers of segments end no addition, and new items are found again",
        arguments: [9, HashSegments.last, HashSegments.last + 1, 1 << 24, Int64.max, -1, Int64.min])
    func numbers(id: Int64) async throws {
        let store = try folder.open()
        _ = try await add(0..<100, to: store)
        for items in [100, HashSegments.capacity] {
            try await store.perform { db in
                try db.execute(
                    sql: "INSERT OR REPLACE INTO segment (id, items) VALUES (?, ?)", arguments: [id, items])
            }
            let names = items..<items + 60
            #expect(try await add(names, to: store).allSatisfy { $0.kind == .inserted })
            #expect(try await add(names, to: store).allSatisfy { $0.kind == .joined })
            #expect(try await add(0..<100, to: store).allSatisfy { $0.kind == .joined })
            try await store.dropEvents(keeping: 0)
        }
    }

    @Test("If the number of one new item is taken, nothing of the list is added", arguments: [1, 30, 60])
    func taken(number: Int) async throws {
        let store = try folder.open()
        _ = try await add(0..<2, to: store)
        try await store.perform { db in
            try db.execute(
                sql:
                    "INSERT INTO download (id, request, hash, url) SELECT ?, request, 0, 'http://a' FROM download LIMIT 1",
                arguments: [2 + number])
            try db.execute(sql: "UPDATE sqlite_sequence SET seq = 2 WHERE name = 'download'")
        }
        await #expect(throws: DownloadError.self) { try await add(2..<62, to: store) }
        #expect(try await store.perform { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM download") } == 3)
        #expect(try await segments(store).map(\.items) == [3])
    }

    @Test("The bits of a filter are those of earlier versions")
    func bits() {
        var filter = HashFilter(count: 3)
        for hash in [0, 0x12_3456_789A, (1 << 40) - 1] as [Int64] { filter.insert(hash) }
        #expect(filter.bytes == [1, 193, 12, 112])
    }
}
