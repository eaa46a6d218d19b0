import DownloadCore
import DownloadTestSupport
import Foundation
import GRDB
import Testing

@testable import DownloadStorage

@Suite("ItemSegments: the index of items", .inTurn)
struct ItemSegmentTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A filter has all its hashes, and few others", arguments: [1, 10, 1000, 50_000])
    func filter(count: Int) {
        // Hashes of names that differ in a few digits lie close together.
        let hashes = (0..<2 * count).map { ItemHash.of("https://example.org/files/\($0)") }
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
        var isOpen: Bool
    }

    /// Returns the segments that are recorded, each with the number of its items.
    private func segments(_ store: SQLiteDownloadStore) async throws -> [Segment] {
        try await store.perform { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, filter IS NULL, (SELECT count(*) FROM item WHERE hash >> 40 = itemSegment.id)
                    FROM itemSegment ORDER BY id
                    """
            ).map { Segment(id: $0[0], items: $0[2], isOpen: $0[1]) }
        }
    }

    @Test("A segment is full after its last addition, and items of all segments are found again")
    func fills() async throws {
        let store = try folder.open()
        let most = ItemSegments.capacity
        _ = try await add(0..<most - 1, to: store)
        _ = try await add(most - 1..<most + 3, to: store)
        _ = try await add(most + 3..<most + 6, to: store)
        let expected = [Segment(id: 0, items: most + 3, isOpen: false), Segment(id: 1, items: 3, isOpen: true)]
        #expect(try await segments(store) == expected)
        for names in [[0, most, most + 1, most + 5], Array(most - 100..<most + 6)] {
            let again = try await add(names + [most + 7], to: store)
            #expect(again.map(\.id).dropLast() == names.map { DownloadID($0 + 1) }[...])
            #expect(again.dropLast().allSatisfy { $0.kind == .joined } && again.last.map { $0.kind } == .inserted)
            _ = try await store.remove([again.last?.id ?? 0], session: "s")
        }
    }

    @Test("A segment is deleted with its last item, but the newest one stays")
    func forgets() async throws {
        let store = try folder.open()
        _ = try await add(0..<3, to: store)
        try await store.perform { db in
            try db.execute(sql: "UPDATE itemSegment SET items = ?", arguments: [ItemSegments.capacity])
        }
        _ = try await add(3..<6, to: store)
        #expect(try await segments(store).map(\.id) == [0, 1])
        _ = try await store.remove([1, 2, 3, 4, 5, 6], session: "s")
        try await store.dropEvents(keeping: 0)
        #expect(try await segments(store).map(\.id) == [1])
        #expect(try await add(0..<6, to: store).allSatisfy { $0.kind == .inserted })
    }

    @Test(
        "A damaged segment costs look-ups at most",
        arguments: [
            "items = 'a'", "items = \(Int64.max)", "filter = ''", "filter = 7", "filter = 'text'",
            "items = -1, filter = x''", "id = 9",
        ])
    func damaged(change: String) async throws {
        let store = try folder.open()
        _ = try await add(0..<100, to: store)
        try await store.perform { db in try db.execute(sql: "UPDATE itemSegment SET \(change)") }
        let again = try await add(0..<101, to: store)
        #expect(again.count == 101 && again.last?.kind == .inserted)
        if !["filter = 'text'", "id = 9"].contains(change) {
            #expect(again.dropLast().allSatisfy { $0.kind == .joined })
        }
    }
}
