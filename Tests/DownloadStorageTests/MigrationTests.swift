import DownloadCore
import Foundation
import GRDB
import DownloadTestSupport
import Testing

@testable import DownloadStorage

@Suite("A store of an earlier version", .inTurn)
struct MigrationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The folder's store becomes what that version left.
    private func restore(_ version: Int) throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/v\(version).sql")
        let queue = try DatabaseQueue(path: folder.store)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: try String(contentsOf: fixture, encoding: .utf8))
        }
        try queue.close()
    }

    private func schema() throws -> Set<String> {
        let queue = try DatabaseQueue(path: folder.store)
        return try queue.read { db in
            let texts = try String.fetchAll(db, sql: "SELECT type || ' ' || name || sql FROM sqlite_master")
            return Set(texts.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") })
        }
    }

    @Test("opens with all its downloads", arguments: 1...Migrations.steps.count)
    func opens(version: Int) async throws {
        try restore(version)
        let store = try folder.open()
        let records = try await store.records(.all)
        let blank = DownloadRecord(
            id: 2, request: try Sample.request(), created: Date(timeIntervalSince1970: 1_740_000_000))
        var filled = try Sample.filled(blank)
        filled.session = "4711-abc"
        // What requests could not say then.
        filled.request.trust = .insecure
        filled.request.http = HTTPOptions()
        filled.request.secretFiles = SecretFiles()
        filled.request.network = NetworkSettings()
        filled.request.redirect = RedirectPolicy(limit: 3)
        #expect(records.count == 4)
        #expect(records.first { $0.id == 2 } == filled)
        #expect(records.map(\.state.kind) == [.queued, .waiting, .completed, .failed])
        #expect(try await store.add([Sample.request("new")], session: "s")[0].record.id == 6)
    }

    @Test("gains everything that a new one has", arguments: 1...Migrations.steps.count)
    func gains(version: Int) async throws {
        try restore(version)
        await (try folder.open()).close()
        let migrated = try schema()
        let fresh = try MigrationTests()
        await (try fresh.folder.open()).close()
        #expect(try migrated == fresh.schema())
    }

    @Test("finds its old rows by the new indexes, and logs what happens to them")
    func oldRows() async throws {
        try restore(1)
        let store = try folder.open(isAlive: { _ in false })
        #expect(try await store.eventBounds() == (0, 0))
        #expect(try await store.queuedCount(session: "4711-abc") == 1)
        #expect(try await store.queued(session: "4711-abc", after: nil, limit: 9).map(\.id) == [1])
        let ended = DownloadSelection(.states([.completed, .failed]))
        #expect(try await store.records(ended).map(\.id) == [4, 5])
        try await store.releaseDeadSessions()
        try await store.requeue(session: "4711-abc")
        #expect(try await store.queued(session: "4711-abc", after: nil, limit: 9).map(\.id) == [2, 1])
        #expect(try await store.removeEnded(before: Date(), limit: 9).map(\.id) == [4, 5])
        let events = try await store.events(after: 0, limit: 9)
        #expect(events.map(\.kind) == [.paused, .resumed, .removed, .removed])
        #expect(events.map(\.name) == ["name (1).bin", "name (1).bin", "d.bin", "e"])
    }

    @Test("keeps the events of its time")
    func oldEvents() async throws {
        try restore(2)
        let events = try await folder.open().events(after: 0, limit: 100)
        #expect(events.map(\.kind).prefix(3) == [.added, .added, .added])
        #expect(Set(events.map(\.kind)).isSuperset(of: [.waiting, .changed, .removed, .failed, .completed]))
        #expect(events.map(\.cursor) == Array(1...EventCursor(events.count)))
        #expect(events.last { $0.kind == .failed }?.state == .failed(.serverRefused(status: 404, phrase: "Not Found")))
    }
}
