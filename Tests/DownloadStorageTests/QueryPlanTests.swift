import DownloadCore
import Foundation
import GRDB
import Synchronization
import DownloadTestSupport
import Testing

@testable import DownloadStorage

/// With a million downloads, a single query without an index is too slow. These tests check the plan of every statement
/// that the store really runs in the calls below.
@Suite("SQLiteDownloadStore: query plans", .inTurn)
struct QueryPlanTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns the plan of each statement that `work` runs, except statements that begin or end a transaction.
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

    @Test("A save makes no copy of the pages that it changes", arguments: [RowWriter.replacement, DoneRow.insertion])
    func noStatementJournal(sql: String) async throws {
        let program = try folder.open().database.read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN " + sql)
            statement.setUncheckedArguments(StatementArguments())
            return try Row.fetchAll(statement)
        }
        let halts = program.filter { ["Halt", "HaltIfNull"].contains($0["opcode"] as String) }
        #expect(!halts.isEmpty)
        // 2 is OE_Abort, which reverts the statement alone and therefore needs the copy.
        #expect(halts.allSatisfy { $0["p2"] != 2 })
    }

    /// The plan for the tables of intents. These tables are short, because they only have files that are just getting
    /// their names.
    private let intents: Set<String> = [
        "SCAN intent", "SCAN itemIntent", "COMPOUND QUERY", "LEFT-MOST SUBQUERY", "UNION USING TEMP B-TREE",
    ]

    private let anItem: Set<String> = [
        "SEARCH item USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH list USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH done USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
    ]
    private let itemsOfLists: Set<String> = [
        "SEARCH item USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        "SEARCH list USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH done USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
    ]
    /// The plan of the query whether there is any item. It reads one row.
    private let anyItem = "SCAN item USING COVERING INDEX itemByHash"
    /// The plan of the query for the segments of that index. Each of them has thousands of items.
    private let segments = "SEARCH itemSegment USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
    /// The plan of the query whether there is any download in a folder. It reads one row.
    private let anyOfFolder = "SEARCH download USING COVERING INDEX downloadByDestination (folder=?)"
    private let queuedItems: Set<String> = [
        "SEARCH item USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "SEARCH list USING INDEX listQueued (session=?)",
        "SEARCH done USING INTEGER PRIMARY KEY (rowid=?)", "CORRELATED SCALAR SUBQUERY 1",
    ]

    @Test("Queries of single downloads and pages never scan the rows of others")
    func plans() async throws {
        let store = try folder.open(isAlive: { !$0.contains("dead") })
        var ids: [DownloadID] = []
        for name in 0..<3 { ids += try await store.add([Sample.request("\(name)")], session: "s").map(\.record.id) }
        ids += try await store.add((3..<6).map { try Sample.request("\($0)") }, session: "s").map(\.record.id)
        _ = try await store.add([Sample.request("dead")], session: "foreground-dead")
        let byID = "SEARCH download USING INTEGER PRIMARY KEY (rowid=?)"
        let queued = "SEARCH download USING INDEX downloadQueued"
        let byState = "SEARCH download USING INDEX downloadByState (state=?"
        let lists = "SEARCH list USING INDEX listQueued (session=?)"
        let array = "SCAN json_each VIRTUAL TABLE INDEX 1:"

        try await expect(
            intents.union(anItem).union([
                array, anyItem, segments, "SEARCH item USING INDEX itemByHash (hash=?)", anyOfFolder,
                "SEARCH download USING INDEX downloadByDestination (folder=? AND url=?)",
            ]).subtracting(["SEARCH item USING INTEGER PRIMARY KEY (rowid=?)"]), of: store
        ) {
            _ = try await store.add([Sample.request("0")], session: "s")
        }
        try await expect(anItem.union([byID]), of: store) { _ = try await store.records(.ids(ids)) }
        // The index only has lists with a queued item.
        try await expect(
            itemsOfLists.union(["\(byState) AND rowid>?)", "SCAN list USING INDEX listQueued"]), of: store
        ) {
            _ = try await store.records(DownloadSelection(.states([.queued, .paused, .failed]), limit: 20))
        }
        // The names of items have no index, because only `dlm verify` searches for names.
        try await expect(
            [
                "SEARCH download USING INDEX downloadByDestination (folder=?)", "USE TEMP B-TREE FOR ORDER BY",
                "SCAN list",
                "SEARCH done USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
                "SEARCH item USING INTEGER PRIMARY KEY (rowid=?)",
            ], of: store
        ) {
            _ = try await store.records(DownloadSelection(.file(folder: "/d", name: "n")))
        }
        try await expect(
            [
                "SEARCH download USING INTEGER PRIMARY KEY (rowid>?)",
                "SEARCH item USING INTEGER PRIMARY KEY (rowid>?)",
                "SEARCH list USING INTEGER PRIMARY KEY (rowid=?)",
                "SEARCH done USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
            ], of: store
        ) {
            _ = try await store.records(DownloadSelection(.all, limit: 20))
        }
        try await expect(itemsOfLists.union(["\(queued) (session=?)", lists]), of: store) {
            _ = try await store.queued(session: "s", after: nil, limit: 9)
        }
        try await expect(
            itemsOfLists.union([
                "\(queued) (session=? AND priority=? AND rowid>?)", "\(queued) (session=? AND priority<?)", lists,
            ]), of: store
        ) {
            _ = try await store.queued(session: "s", after: QueuePosition(priority: 0, id: 1), limit: 9)
        }
        try await expect(itemsOfLists.union(["\(queued) (session=?)", lists]), of: store) {
            _ = try await store.queued(session: "s", excluding: ["http://a/"], limit: 9)
        }
        let promotion: Set<String> = [
            array, anyItem, "SEARCH done USING INTEGER PRIMARY KEY (rowid=?)", "CORRELATED SCALAR SUBQUERY 1",
            "CORRELATED SCALAR SUBQUERY 2", "LIST SUBQUERY 3",
        ]
        try await expect(intents.union([byID]).union(anItem).union(promotion), of: store) {
            _ = try await store.change([ids[3]], .pause, session: "s")
        }
        try await expect(intents.union([byID, array, anyItem]).union(anItem), of: store) {
            _ = try await store.claim([ids[0]], session: "s")
        }
        // This query runs once an hour. An index of times would cost each file more than the scan.
        try await expect(
            [
                "SEARCH download USING INDEX downloadEnded (updated<?)", "SCAN done", "SCALAR SUBQUERY 1",
                "SCALAR SUBQUERY 2",
                "SCAN CONSTANT ROW",
            ], of: store
        ) {
            _ = try await store.removeEnded(before: Date(timeIntervalSince1970: 0), limit: 9)
        }
    }

    @Test("Queries of whole sessions never scan the rows of others, and read only the ends of a queue")
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
            queuedItems.union(intents).union([
                atWork, moved, list, "USE TEMP B-TREE FOR DISTINCT",
                "SEARCH download USING INDEX downloadQueued (session>? AND session<?)",
                "SEARCH download USING INDEX downloadQueued (session=?)",
                "SEARCH list USING INDEX listQueued (session>? AND session<?)",
            ]), of: store
        ) { try await store.releaseDeadSessions() }
        try await expect(
            intents.union([
                atWork, moved, list, "SEARCH download USING INDEX downloadPaused (session=? AND stateDetail=?)",
            ]), of: store
        ) { try await store.requeue(session: "s") }
        try await expect(
            queuedItems.union([moved, list, "SEARCH download USING INDEX downloadQueued (session=?)"]), of: store
        ) {
            try await store.pauseQueued(session: "s", reason: .user)
        }
    }

    @Test("Queries of the log begin at the cursor")
    func log() async throws {
        let store = try folder.open()
        for name in 0..<9 { _ = try await store.add([Sample.request("\(name)")], session: "s") }
        let bySeq = "SEARCH event USING INTEGER PRIMARY KEY"
        try await expect(["\(bySeq) (rowid>?)"], of: store) { _ = try await store.events(after: 3, limit: 2) }
        let dropping = try await plans(store) { try await store.dropEvents(keeping: 2) }
        #expect(dropping.contains("\(bySeq) (rowid<?)"))
        // Only the log's first row, the three rows of `sqlite_sequence`, the lists and the segments are read whole. The
        // rows of lists and segments may be deleted with dropped events.
        let scans = Set(dropping.filter { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" })
        #expect(scans == ["SCAN sqlite_sequence", "SCAN event", "SCAN list"] && dropping.contains(segments))
    }
}

/// Collects the statements that a trace reports. The trace calls `note` on the database's queue.
private final class SeenStatements: Sendable {
    private let statements = Mutex<Set<String>>([])

    var all: Set<String> { statements.withLock(\.self) }

    func note(_ sql: String) {
        let words = ["SELECT", "UPDATE", "DELETE", "INSERT"]
        if words.contains(where: sql.hasPrefix) { _ = statements.withLock { $0.insert(sql) } }
    }
}
