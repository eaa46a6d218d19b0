import DownloadCore
import Foundation
import GRDB
import Synchronization
import Testing

@testable import DownloadStorage

@Suite("The SQLite store")
struct SQLiteDownloadStoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("finds everything again after it was closed and opened")
    func survivesReopening() async throws {
        let first = try folder.open()
        let record = try Sample.filled(try await first.add([Sample.request()], session: "s")[0].record)
        _ = try await first.save([record], session: "s")
        await first.close()
        await first.close()
        let second = try folder.open()
        #expect(try await second.records(.all) == [record])
    }

    @Test("finds everything again after its process died without closing it")
    func survivesDeath() async throws {
        let first = try folder.open()
        let added = try await first.add([Sample.request()], session: "s").map(\.record)
        let copy = try TemporaryFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.store + suffix, toPath: copy.store + suffix)
        }
        #expect(try await copy.open().records(.all) == added)
    }

    @Test("never uses an id again, not even after it was closed")
    func idsAcrossReopening() async throws {
        let first = try folder.open()
        let last = try await first.add((0..<3).map { try Sample.request("\($0)") }, session: "s")[2].record.id
        _ = try await first.remove([last], session: "s")
        await first.close()
        #expect(try await folder.open().add([Sample.request()], session: "s")[0].record.id > last)
    }

    @Test("really writes ahead, synchronises normally and waits ten seconds for others")
    func settings() throws {
        let store = try folder.open()
        let read = try store.database.writeWithoutTransaction { db in
            try ["journal_mode", "synchronous", "busy_timeout"].map { name in
                try String.fetchOne(db, sql: "PRAGMA \(name)")
            }
        }
        #expect(read == ["wal", "1", "10000"])
    }

    @Test("lets nobody else read its files")
    func modes() async throws {
        let parent = folder.path + "/new/state"
        let store = try SQLiteDownloadStore(folder: parent, isAlive: { _ in true })
        _ = try await store.add([Sample.request()], session: "s")
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder.path + "/new") == 0o700)
        #expect(try mode(parent) == 0o700)
        for suffix in ["", "-wal", "-shm"] {
            #expect(try mode(parent + "/downloads.sqlite" + suffix) == 0o600)
        }
    }

    @Test("stores no secret, and does not confuse requests that differ in one")
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

    @Test("finishes a save whose task was cancelled: resume data is written by such tasks")
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

    @Test("opens a store of version 1 and finds its downloads")
    func versionOne() async throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/v1.sql")
        try await DatabaseQueue(path: folder.store).writeWithoutTransaction { db in
            try db.execute(sql: try String(contentsOf: fixture, encoding: .utf8))
        }
        let store = try folder.open()
        let records = try await store.records(.all)
        let blank = DownloadRecord(
            id: 2, request: try Sample.request(), created: Date(timeIntervalSince1970: 1_740_000_000))
        var filled = try Sample.filled(blank)
        filled.session = "4711-abc"
        #expect(records.count == 4)
        #expect(records.first { $0.id == 2 } == filled)
        #expect(records.map(\.state.kind) == [.queued, .waiting, .completed, .failed])
        #expect(try await store.add([Sample.request("new")], session: "s")[0].record.id == 6)
    }
}
