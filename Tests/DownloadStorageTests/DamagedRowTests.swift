import DownloadCore
import Foundation
import GRDB
import Testing

@testable import DownloadStorage

@Suite("A row that cannot be read")
struct DamagedRowTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with three paused downloads, the second of which has `assignment` done to its row.
    private func damagedStore(_ assignment: String) async throws -> SQLiteDownloadStore {
        let store = try folder.open(isAlive: { $0 == "alive" })
        var records = try await store.add((0..<3).map { try Sample.request("\($0)") }, session: "s").map(\.record)
        for index in records.indices {
            records[index].state = .paused(.user)
            records[index].session = nil
            records[index].resume.written = ByteRanges([0..<100])
        }
        _ = try await store.save(records, session: "s")
        try await store.database.writeWithoutTransaction { db in
            try db.execute(sql: "UPDATE download SET \(assignment) WHERE id = 2")
        }
        return store
    }

    static let damages: [(assignment: String, column: String)] = [
        ("request = '{}'", "request"),
        ("request = x'00ff'", "request"),
        ("stateDetail = '{\"paused\":{\"_0\":\"by a newer dlm\"}}'", "stateDetail"),
        ("stateDetail = NULL", "stateDetail"),
        ("state = 'verifying'", "state"),
        ("state = 'failed'", "stateDetail"),
        ("resume = '{\"written\":[[5,1]]}'", "resume"),
        ("resume = 'not JSON'", "resume"),
        ("attempts = '[{}]'", "attempts"),
        ("completed = '[]'", "completed"),
        ("url = 'ftp://example.org/'", "url"),
        ("priority = 'high'", "priority"),
        ("created = 'yesterday'", "created"),
        ("session = x'ff01'", "session"),
    ]

    @Test("is told as failed and takes no other down; it is not claimed, and can be removed", arguments: damages)
    func isTold(assignment: String, column: String) async throws {
        let store = try await damagedStore(assignment)
        let failure = DownloadError.unexpected(
            "its record in the store is damaged (\(column)); run: dlm remove 2")
        let records = try await store.records(.all)
        #expect(records.map(\.id) == [1, 2, 3])
        #expect(records.map(\.state) == [.paused(.user), .failed(failure), .paused(.user)])
        #expect(records[1].resume == ResumeData())

        await #expect(throws: failure) { try await store.claim([1, 2], session: "me") }
        #expect(try await store.records(.ids([1])).map(\.state) == [.paused(.user)])
        let paused = try await store.records(DownloadSelection(.states([.paused])))
        #expect(paused.map(\.id) == [1, 3])

        try await store.releaseDeadSessions()
        #expect(try await store.remove([2], session: "me").map(\.id) == [2])
        #expect(try await store.records(.all).map(\.id) == [1, 3])
    }

    @Test("is healed by asking for it again, without its resume data")
    func isHealed() async throws {
        let store = try await damagedStore("resume = '?', request = '?'")
        let added = try await store.add([Sample.request("1")], session: "me")[0]
        #expect(added.kind == .adopted)
        #expect(added.record.id == 2)
        #expect(added.record.resume == ResumeData())
        #expect(try await store.records(.ids([2])) == [added.record])
    }

    @Test("is left to the live session that has it")
    func isLeft() async throws {
        let store = try await damagedStore("resume = '?', state = 'running', session = 'alive'")
        #expect(try await store.add([Sample.request("1")], session: "me").map(\.kind) == [.joined])
        #expect(try await store.claim([2], session: "me").map(\.record.session) == ["alive"])
        await #expect(throws: DownloadError.sessionUnavailable(.ownedElsewhere(2, session: "alive"))) {
            try await store.remove([2], session: "me")
        }
    }

    @Test("is not handed out as work, and does not end the queue")
    func isNoWork() async throws {
        let store = try folder.open()
        _ = try await store.add((0..<3).map { try Sample.request("\($0)") }, session: "s")
        try await store.database.writeWithoutTransaction { db in
            try db.execute(sql: "UPDATE download SET resume = '?' WHERE id = 1")
        }
        #expect(try await store.queued(session: "s", after: nil, limit: 1).map(\.id) == [2])
        #expect(try await store.queued(session: "s", after: nil, limit: 5).map(\.id) == [2, 3])
    }
}
