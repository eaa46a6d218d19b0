import DownloadCore
import Foundation
import GRDB
import Synchronization
import DownloadTestSupport
import Testing

@testable import DownloadStorage

/// With a million downloads one question without its index is one too many. These look at every statement that the store
/// really runs.
@Suite("The SQLite store's plans", .inTurn)
struct QueryPlanTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The plan of each statement that `work` runs, transactions apart.
    private func plans(
        _ store: SQLiteDownloadStore, _ work: () async throws -> Void
    ) async throws -> Set<String> {
        let seen = SeenStatements()
        try await store.database.writeWithoutTransaction { db in
            db.trace { event in
                if case .statement(let statement) = event { seen.note(statement.expandedSQL) }
            }
        }
        try await work()
        try await store.database.writeWithoutTransaction { db in db.trace(options: []) }
        return try await store.database.read { db in
            var plans: Set<String> = []
            for sql in seen.all {
                plans.formUnion(try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String })
            }
            return plans
        }
    }

    private func expect(
        _ expected: Set<String>, of store: SQLiteDownloadStore, location: SourceLocation = #_sourceLocation,
        _ work: () async throws -> Void
    ) async throws {
        let seen = try await plans(store, work)
        #expect(seen == expected, sourceLocation: location)
    }

    @Test("a save needs no copy of the pages that it changes")
    func noStatementJournal() async throws {
        let program = try folder.open().database.read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN " + RowWriter.inPlace)
            statement.setUncheckedArguments(StatementArguments())
            return try Row.fetchAll(statement)
        }
        let halts = program.filter { ["Halt", "HaltIfNull"].contains($0["opcode"] as String) }
        #expect(!halts.isEmpty)
        // 2 is OE_Abort: to take back the statement alone. A trigger that asks for the time may need that, too.
        #expect(halts.allSatisfy { $0["p2"] != 2 })
        #expect(!program.contains { ($0["p4"] as String?)?.hasPrefix("julianday") ?? false })
    }

    /// The table has only the files that are being named at this moment.
    private let intents: Set<String> = ["SCAN intent", "USE TEMP B-TREE FOR DISTINCT"]

    @Test("never look at the rows of others")
    func plans() async throws {
        let store = try folder.open(isAlive: { !$0.contains("dead") })
        let ids = try await store.add((0..<6).map { try Sample.request("\($0)") }, session: "s").map(\.record.id)
        _ = try await store.add([Sample.request("dead")], session: "foreground-dead")
        let byID = "SEARCH download USING INTEGER PRIMARY KEY (rowid=?)"
        let queued = "SEARCH download USING INDEX downloadQueued"
        let byState = "SEARCH download USING INDEX downloadByState (state=?"

        try await expect(
            intents.union([
                "SCAN json_each VIRTUAL TABLE INDEX 1:",
                "SEARCH download USING INDEX downloadByDestination (folder=? AND url=?)",
            ]), of: store
        ) {
            _ = try await store.add([Sample.request("0")], session: "s")
        }
        try await expect([byID], of: store) { _ = try await store.records(.ids(ids)) }
        try await expect(["\(byState) AND rowid>?)"], of: store) {
            _ = try await store.records(DownloadSelection(.states([.queued, .paused, .failed]), limit: 20))
        }
        try await expect(
            ["SEARCH download USING INDEX downloadByDestination (folder=?)", "USE TEMP B-TREE FOR ORDER BY"], of: store
        ) {
            _ = try await store.records(DownloadSelection(.file(folder: "/d", name: "n")))
        }
        try await expect(["SEARCH download USING INTEGER PRIMARY KEY (rowid>?)"], of: store) {
            _ = try await store.records(DownloadSelection(.all, limit: 20))
        }
        try await expect(["\(queued) (session=?)"], of: store) {
            _ = try await store.queued(session: "s", after: nil, limit: 2)
        }
        try await expect(
            ["\(queued) (session=? AND priority=? AND rowid>?)", "\(queued) (session=? AND priority<?)"], of: store
        ) {
            _ = try await store.queued(session: "s", after: QueuePosition(priority: 0, id: 1), limit: 9)
        }
        try await expect(["\(queued) (session=?)"], of: store) {
            _ = try await store.queued(session: "s", excluding: ["http://a/"], limit: 9)
        }
        try await expect(intents.union([byID]), of: store) {
            _ = try await store.change([ids[0]], .pause, session: "s")
        }
        try await expect(intents.union([byID]), of: store) { _ = try await store.claim([ids[0]], session: "s") }
        try await expect(["SEARCH download USING INDEX downloadEnded (updated<?)"], of: store) {
            _ = try await store.removeEnded(before: Date(), limit: 9)
        }
    }

    @Test("of whole sessions never look at the rows of others, nor at more than the ends of a queue")
    func sessions() async throws {
        let store = try folder.open(isAlive: { !$0.contains("dead") })
        for session in ["dead", "foreground-dead", "s"] {
            var record = try await store.add([Sample.request("\(session) 1")], session: session)[0].record
            record.state = .running
            _ = try await store.save([record], session: session)
            _ = try await store.add([Sample.request("\(session) 2")], session: session)
        }
        let atWork = "SEARCH download USING INDEX downloadByState (state=?)"
        let (moved, list) = ("SEARCH download USING INTEGER PRIMARY KEY (rowid=?)", "LIST SUBQUERY 1")
        try await expect(
            [
                atWork, moved, list, "SCAN intent", "USE TEMP B-TREE FOR DISTINCT",
                "SEARCH download USING INDEX downloadQueued (session>? AND session<?)",
                "SEARCH download USING INDEX downloadQueued (session=?)",
            ], of: store
        ) { try await store.releaseDeadSessions() }
        try await expect(
            intents.union([
                atWork, moved, list, "SEARCH download USING INDEX downloadPaused (session=? AND stateDetail=?)",
            ]), of: store
        ) { try await store.requeue(session: "s") }
        try await expect([moved, list, "SEARCH download USING INDEX downloadQueued (session=?)"], of: store) {
            try await store.pauseQueued(session: "s", reason: .user)
        }
    }

    @Test("of the log begin at the cursor")
    func log() async throws {
        let store = try folder.open()
        _ = try await store.add((0..<9).map { try Sample.request("\($0)") }, session: "s")
        let bySeq = "SEARCH event USING INTEGER PRIMARY KEY"
        try await expect(["\(bySeq) (rowid>?)"], of: store) { _ = try await store.events(after: 3, limit: 2) }
        let dropping = try await plans(store) { try await store.dropEvents(keeping: 2) }
        #expect(dropping.contains("\(bySeq) (rowid<?)"))
        // The log's first row, and the two rows of the sequences.
        #expect(dropping.filter { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" } == ["SCAN sqlite_sequence"])
    }
}

/// What a trace tells; on the database's queue.
private final class SeenStatements: Sendable {
    private let statements = Mutex<Set<String>>([])

    var all: Set<String> { statements.withLock(\.self) }

    func note(_ sql: String) {
        let words = ["SELECT", "UPDATE", "DELETE", "INSERT"]
        if words.contains(where: sql.hasPrefix) { _ = statements.withLock { $0.insert(sql) } }
    }
}
