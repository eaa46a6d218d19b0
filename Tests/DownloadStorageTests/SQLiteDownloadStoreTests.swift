import DownloadCore
import DownloadSystem
import Foundation
import GRDB
import Synchronization
import DownloadTestSupport
import Testing

@testable import DownloadStorage

@Suite("SQLiteDownloadStore: files and settings", .inTurn)
struct SQLiteDownloadStoreTests {
    let folder = TemporaryFolder()

    @Test("All downloads are there after the store was closed and opened")
    func survivesReopening() async throws {
        let first = try folder.open()
        let record = try Sample.filled(try await first.add([Sample.request()], session: "s")[0].record)
        _ = try await first.save([record], session: "s")
        await first.close()
        await first.close()
        let second = try folder.open()
        #expect(try await second.records(.all) == [record])
    }

    @Test("All downloads are there if the process died without closing the store")
    func survivesDeath() async throws {
        let first = try folder.open()
        let added = try await first.add([Sample.request()], session: "s").map(\.record)
        let copy = TemporaryFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.store + suffix, toPath: copy.store + suffix)
        }
        #expect(try await copy.open().records(.all) == added)
    }

    @Test("A store in memory uses no file, and shares nothing with another one")
    func inMemory() async throws {
        let stores = try (0..<2).map { _ in try SQLiteDownloadStore(folder: nil, isAlive: { _ in true }) }
        let added = try await stores[0].add([Sample.request()], session: "s").map(\.record)
        #expect(try await stores[0].records(.all) == added)
        #expect(try await stores[1].records(.all) == [])
        #expect(stores[0].path == "")
        let (file, journal, temporary) = try await stores[0].perform { db in
            (
                try String.fetchOne(db, sql: "SELECT file FROM pragma_database_list"),
                try String.fetchOne(db, sql: "PRAGMA journal_mode"),
                // 2 means that temporary tables and indices are in memory.
                try Int.fetchOne(db, sql: "PRAGMA temp_store")
            )
        }
        #expect(file == "" && journal == "memory" && temporary == 2)
    }

    @Test("No file is made if SQLite reports that a store in memory is damaged")
    func damagedInMemory() throws {
        let connection = try StoreConnection("", SystemTime()) { Issue.record("\($0)") }
        let queue = connection.queue
        #expect(try !connection.replace(queue, after: DatabaseError(resultCode: .SQLITE_CORRUPT)))
        #expect(connection.queue === queue)
    }

    @Test("An id is never used again, even after the store was closed")
    func idsAcrossReopening() async throws {
        let first = try folder.open()
        let last = try await first.add((0..<3).map { try Sample.request("\($0)") }, session: "s")[2].record.id
        _ = try await first.remove([last], session: "s")
        await first.close()
        #expect(try await folder.open().add([Sample.request()], session: "s")[0].record.id > last)
    }

    @Test("The log continues after the store was closed, and its numbers continue after it was emptied")
    func logAcrossReopening() async throws {
        let first = try folder.open()
        let ids = try await first.add((0..<3).map { try Sample.request("\($0)") }, session: "s").map(\.record.id)
        let seen = try await first.events(after: 0, limit: 2)
        await first.close()
        let second = try folder.open()
        _ = try await second.remove([ids[0]], session: "s")
        let rest = try await second.events(after: 2, limit: 9)
        #expect((seen + rest).map(\.cursor) == [1, 2, 3, 4])
        #expect(rest.map(\.kind) == [.added, .removed])
        try await second.dropEvents(keeping: 0)
        await second.close()
        let third = try folder.open()
        #expect(try await third.eventBounds() == (4, 4))
        _ = try await third.remove([ids[1]], session: "s")
        #expect(try await third.events(after: 0, limit: 9).map(\.cursor) == [5])
    }

    @Test("All downloads of a dead session are released, even if this needs several steps")
    func longQueue() async throws {
        let store = try folder.open(isAlive: { _ in false })
        _ = try await store.add([Sample.request()], session: "foreground-dead")
        let count = 2 * SQLiteDownloadStore.rowsMovedAtOnce + 1
        try await store.execute(
            """
            WITH RECURSIVE number (value) AS (SELECT 2 UNION ALL SELECT value + 1 FROM number LIMIT \(count - 1))
            INSERT INTO download (request, hash, url) SELECT request, hash, url || value
            FROM number, download WHERE download.id = 1;
            UPDATE request SET last = \(count), queued = \(count)
            """)
        #expect(try await store.queuedCount(session: "foreground-dead") == count)
        let before = try await store.eventBounds().last
        try await store.releaseDeadSessions()
        let paused = try await store.records(DownloadSelection(.states([.paused])))
        #expect(paused.count == count)
        #expect(paused.allSatisfy { $0.session == nil && $0.state == .paused(.interrupted) })
        let events = try await store.events(after: before, limit: .max)
        #expect(events.map(\.id).sorted() == paused.map(\.id))
        #expect(events.allSatisfy { $0.kind == .paused && $0.session == "foreground-dead" })
    }

    @Test("A long log is dropped in several steps")
    func longLog() async throws {
        let store = try folder.open()
        try await store.execute(
            """
            WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number LIMIT 50000)
            INSERT INTO event (time, kind, download, url, received) SELECT 0, 'added', value, '', 0 FROM number
            """)
        #expect(try await store.eventBounds() == (0, 50000))
        try await store.dropEvents(keeping: 10)
        #expect(try await store.eventBounds() == (49990, 50000))
        #expect(try await store.events(after: 0, limit: 99).map(\.id) == Array(49991...50000))
    }

    @Test("The store uses WAL, synchronous NORMAL, and waits ten seconds for locks")
    func settings() throws {
        let store = try folder.open()
        let read = try store.database.writeWithoutTransaction { db in
            try ["journal_mode", "synchronous", "busy_timeout"].map { name in
                try String.fetchOne(db, sql: "PRAGMA \(name)")
            }
        }
        #expect(read == ["wal", "1", "10000"])
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("Other users cannot read the store's files")
    func modes() async throws {
        let parent = folder.path + "/new/state"
        let store = try SQLiteDownloadStore(folder: parent, isAlive: { _ in true })
        _ = try await store.add([Sample.request()], session: "s")
        #expect(try mode(folder.path + "/new") == 0o700)
        #expect(try mode(parent) == 0o700)
        for suffix in ["", "-wal", "-shm"] { #expect(try mode(parent + "/downloads.sqlite" + suffix) == 0o600) }
        await store.close()
    }

    @Test("A store that others can read is restricted with its log files, also if a link leads to it")
    func restricted() async throws {
        try await folder.open().close()
        try FileManager.default.createDirectory(atPath: folder.path + "/linked", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/linked/downloads.sqlite", withDestinationPath: folder.store)
        try #require(chmod(folder.store, 0o644) == 0)
        let store = try SQLiteDownloadStore(folder: folder.path + "/linked", isAlive: { _ in true })
        for suffix in ["", "-wal", "-shm"] { #expect(try mode(folder.store + suffix) == 0o600) }
        await store.close()
    }

    @Test("No secret is stored, but the records that add returns keep their secrets")
    func secrets() async throws {
        let store = try folder.open()
        let requests = try ["hunter2", "hunter3"].enumerated().map { index, secret in
            var request = try Sample.request("\(index)")
            request.headers = [RequestHeader(name: "Authorization", value: secret)]
            request.credential = Credential(user: "me", password: secret)
            return request
        }
        let added = try await store.add(requests, session: "s")
        #expect(added.map(\.record.request) == requests)
        for record in try await store.records(.all) {
            #expect(record.request.missingSecrets == ["Authorization", "the password of me"])
        }
        await store.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.store))
        #expect(bytes.range(of: Data("example.org".utf8)) != nil)
        #expect(bytes.range(of: Data("hunter".utf8)) == nil)
    }

    @Test("A save is finished even if its task is cancelled, because cancelled tasks save resume data")
    func cancelledTask() async throws {
        let store = try folder.open()
        var record = try await store.add([Sample.request()], session: "s")[0].record
        record.state = .paused(.interrupt)
        let paused = record
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.save([paused], session: "s")
        }
        #expect(try await task.value == [])
        #expect(try await store.records(.all).map(\.state) == [.paused(.interrupt)])
    }
}
