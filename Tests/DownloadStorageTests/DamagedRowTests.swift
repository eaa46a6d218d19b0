import DownloadCore
import Foundation
import GRDB
import DownloadTestSupport
import Testing

@testable import DownloadStorage

@Suite("SQLiteDownloadStore: a row that cannot be read", .inTurn)
struct DamagedRowTests {
    let folder = TemporaryFolder()

    /// Returns a store with three paused downloads. One row of the second one is changed by `assignment`.
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
            try db.execute(sql: Self.ownRequest)
            try db.execute(sql: Self.change(assignment))
        }
        return store
    }

    /// Gives the second download a request of its own.
    static let ownRequest = """
        INSERT INTO request (priority, folder, created, document, first, last, queued)
        SELECT priority, folder, created, document, 2, 2, 0 FROM request;
        UPDATE download SET request = last_insert_rowid() WHERE id = 2
        """

    /// Returns the statements that change columns of the second download.
    static func change(_ assignments: String) -> String {
        assignments.split(separator: "; ").map { assignment in
            switch assignment.prefix(while: { $0 != " " }) {
            case "document", "created":
                "UPDATE request SET \(assignment) WHERE id = (SELECT request FROM download WHERE id = 2)"
            case "url": "UPDATE download SET \(assignment) WHERE id = 2"
            default: "UPDATE detail SET \(assignment) WHERE id = 2"
            }
        }.joined(separator: ";")
    }

    @Test(
        "A queued item whose URL cannot be read hides no other item",
        arguments: ["x'ff'", "7", "'gopher://example.org/'", "''"], [1, 2])
    func itemURL(damage: String, id: DownloadID) async throws {
        let store = try folder.open()
        _ = try await store.add((0..<3).map { try Sample.request("\($0)") }, session: "s")
        try await store.execute("UPDATE download SET url = \(damage) WHERE id = \(id)")
        let queued = try await store.queued(session: "s", after: nil, excluding: [], limit: 9)
        #expect(queued.map(\.id) == [1, 2, 3].filter { $0 != id })
    }

    @Test("Every column that a reader knows is asked for")
    func columns() throws {
        let count = try folder.open().database.read { db in
            try db.makeStatement(sql: "SELECT \(StoredColumns.all) FROM \(StoredColumns.downloads)").columnCount
        }
        #expect(count == RowReader.Column.allCases.count)
    }

    static let damages: [(assignment: String, column: String)] = [
        ("document = '[]'", "request"),
        ("document = x'00ff'", "request"),
        ("stateDetail = '{\"paused\":{\"_0\":\"by a newer dlm\"}}'", "stateDetail"),
        ("stateDetail = NULL", "stateDetail"),
        ("state = 'verifying'", "state"),
        ("state = 'failed'", "stateDetail"),
        ("resume = '{\"written\":[[5,1]]}'", "resume"),
        ("resume = 'not JSON'", "resume"),
        ("attempts = '[{}]'", "attempts"),
        ("completed = '[]'", "completed"),
        ("url = 'gopher://example.org/'", "url"),
        ("priority = 'high'", "priority"),
        ("created = 'yesterday'", "created"),
        ("session = x'ff01'", "session"),
    ]

    @Test(
        "A damaged row is a failed download: it cannot be claimed, can be removed, and hides no other row",
        arguments: damages)
    func isTold(assignment: String, column: String) async throws {
        let store = try await damagedStore(assignment)
        let failure = DownloadError.unexpected(
            "its record in the store is damaged (\(column)); remove the download")
        let records = try await store.records(.all)
        #expect(records.map(\.id) == [1, 2, 3])
        #expect(records.map(\.state) == [.paused(.user), .failed(failure), .paused(.user)])
        #expect(records[1].resume == ResumeData())

        await #expect(throws: failure) { try await store.claim([1, 2], session: "me") }
        for change in [DownloadChange.pause, .cancel, .priority(2)] {
            await #expect(throws: failure) { try await store.change([1, 2], change, session: "me") }
        }
        #expect(try await store.records(.ids([1])).map(\.state) == [.paused(.user)])
        let paused = try await store.records(DownloadSelection(.states([.paused])))
        #expect(paused.map(\.id) == [1, 3])

        try await store.releaseDeadSessions()
        #expect(try await store.remove([2], session: "me").map(\.id) == [2])
        #expect(try await store.records(.all).map(\.id) == [1, 3])
    }

    @Test("A damaged row is repaired by adding its request again, without its resume data")
    func isHealed() async throws {
        let store = try await damagedStore("resume = '?'; document = '?'")
        let added = try await store.add([Sample.request("1")], session: "me")[0]
        #expect(added.kind == .adopted)
        #expect(added.record.id == 2)
        #expect(added.record.resume == ResumeData())
        #expect(try await store.records(.ids([2])) == [added.record])
    }

    @Test("A damaged row of a live session stays with that session")
    func isLeft() async throws {
        let store = try await damagedStore("resume = '?', state = 'running', session = 'alive'")
        #expect(try await store.add([Sample.request("1")], session: "me").map(\.kind) == [.joined])
        #expect(try await store.claim([2], session: "me").map(\.record.session) == ["alive"])
        let refusal = DownloadError.sessionUnavailable(.ownedElsewhere(2, session: "alive"))
        await #expect(throws: refusal) { try await store.remove([2], session: "me") }
        await #expect(throws: refusal) { try await store.change([2], .cancel, session: "me") }
    }

    @Test("If a damaged row was running, it is queued again when its session starts, because its state is readable")
    func isMoved() async throws {
        let store = try await damagedStore("resume = '?', state = 'running', session = 'background'")
        try await store.releaseDeadSessions()
        try await store.requeue(session: "background")
        let states = try await store.database.read { db in
            try String.fetchAll(db, sql: "SELECT state FROM detail ORDER BY id")
        }
        #expect(states == ["paused", "queued", "paused"])
        #expect(try await store.queuedCount(session: "background") == 1)
        #expect(try await store.queued(session: "background", after: nil, excluding: [], limit: 5) == [])
    }

    @Test("A damaged row is not queued again if the reason of its pause cannot be read")
    func isNotQueuedAgain() async throws {
        let store = try await damagedStore("stateDetail = '{}', session = 'background'")
        try await store.requeue(session: "background")
        #expect(try await store.queuedCount(session: "background") == 0)
    }

    @Test("A damaged row is not handed out from the queue, and does not end the queue")
    func isNoWork() async throws {
        let store = try folder.open()
        for name in 0..<3 { _ = try await store.add([Sample.request("\(name)")], session: "s") }
        try await store.database.writeWithoutTransaction { db in
            try Details(db: db).make([1])
            try db.execute(sql: "UPDATE detail SET resume = '?' WHERE id = 1")
        }
        #expect(try await store.queued(session: "s", after: nil, excluding: [], limit: 1).map(\.id) == [2])
        #expect(try await store.queued(session: "s", after: nil, excluding: [], limit: 5).map(\.id) == [2, 3])
    }
}

@Suite("SQLiteDownloadStore: an event that cannot be read", .inTurn)
struct DamagedEventTests {
    static let damages: [(assignment: String, isTold: Bool)] = [
        ("kind = 'verified'", false),
        ("kind = x'00'", false),
        ("download = 'x'", false),
        ("time = 'noon'", true),
        ("name = x'ff'", true),
        ("url = 'gopher:'", true),
        ("url = x'ff'", true),
        ("session = x'ff'", true),
        ("state = 'verifying'", true),
        ("state = 'failed'", true),
        ("state = 'paused', stateDetail = '{}'", true),
        ("received = 'all', total = 'all'", true),
    ]

    @Test(
        "A damaged event is reported without its unreadable parts, or left out if its kind or download is unreadable",
        arguments: damages)
    func isTold(assignment: String, isTold: Bool) async throws {
        let folder = TemporaryFolder()
        let store = try folder.open()
        for name in 1...3 { _ = try await store.add([Sample.request("\(name)")], session: "s") }
        try await store.execute("UPDATE event SET \(assignment) WHERE seq = 2")
        let events = try await store.events(after: 0, limit: isTold ? 3 : 2)
        #expect(events.map(\.cursor) == (isTold ? [1, 2, 3] : [1, 3]))
        #expect(events.allSatisfy { $0.id.rawValue == $0.cursor && $0.kind == .added })
        #expect(try await store.events(after: 1, limit: 1).count == 1)
        #expect(try await store.eventBounds() == (0, 3))
    }

    @Test("The events of a list are read page by page; an item that cannot be read hides no other", arguments: 1...6)
    func pages(of size: Int) async throws {
        let folder = TemporaryFolder()
        let store = try folder.open()
        _ = try await store.add((1...5).map { try Sample.request("\($0)") }, session: "s")
        _ = try await store.add([Sample.request("6")], session: "s")
        try await store.execute("UPDATE event SET batch = '[1,\"x\",3,null,5]' WHERE batch IS NOT NULL")
        var events: [LoggedEvent] = []
        while true {
            let page = try await store.events(after: events.last?.cursor ?? .min, limit: size)
            if page.isEmpty { break }
            #expect(page.count == min(size, 4 - events.count))
            events += page
        }
        #expect(events.map(\.cursor) == [1, 3, 5, 6] && events.map(\.id) == [1, 3, 5, 6])
    }
}
