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
    let folder = TemporaryFolder()

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

    /// The plan for the table of intents. It is short, because it only has files that are just getting their names.
    private let intents: Set<String> = ["SCAN intent", "USE TEMP B-TREE FOR DISTINCT"]

    private let byID = "SEARCH download USING INTEGER PRIMARY KEY (rowid=?)"
    private let detail = "SEARCH detail USING INTEGER PRIMARY KEY (rowid=?)"
    private let details: Set<String> = [
        "SEARCH request USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
        "SEARCH detail USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
    ]
    private let request = "SEARCH request USING INTEGER PRIMARY KEY (rowid=?)"
    private let array = "SCAN json_each VIRTUAL TABLE INDEX 1:"
    private let ofRequest = "SEARCH download USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
    private let requests = "SEARCH request USING INDEX requestQueued (session=?)"
    /// The plan of the query for the segments of the index of hashes. Each of them has thousands of downloads.
    private let segments = "SEARCH segment USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
    /// The plan of ``Details/make(_:)``.
    private var making: Set<String> {
        [
            array, byID, detail, request, "SEARCH request USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
            "CORRELATED SCALAR SUBQUERY 1", "MATERIALIZE counted", "SCAN counted", "USE TEMP B-TREE FOR GROUP BY",
        ]
    }

    @Test("Queries of single downloads and pages never scan the rows of others")
    func plans() async throws {
        let store = try folder.open(isAlive: { !$0.contains("dead") })
        var ids: [DownloadID] = []
        for name in 0..<3 { ids += try await store.add([Sample.request("\(name)")], session: "s").map(\.record.id) }
        ids += try await store.add((3..<6).map { try Sample.request("\($0)") }, session: "s").map(\.record.id)
        _ = try await store.add([Sample.request("dead")], session: "foreground-dead")
        let queued = "SEARCH detail USING INDEX detailQueued"
        let queue = details.union([requests, request, byID, ofRequest])

        try await expect(
            intents.union([
                array, segments, request, "SEARCH detail USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
                // This reads one row.
                "SCAN download USING COVERING INDEX downloadByHash",
                "SEARCH download USING INDEX downloadByHash (hash=?)",
            ]), of: store
        ) {
            _ = try await store.add([Sample.request("0")], session: "s")
        }
        try await expect(details.union([byID]), of: store) { _ = try await store.records(.ids(ids)) }
        // The index only has requests with a queued download.
        try await expect(
            details.union([
                byID, request, ofRequest, "SEARCH detail USING INDEX detailByState (state=? AND rowid>?)",
                "SCAN request USING INDEX requestQueued",
            ]), of: store
        ) {
            _ = try await store.records(DownloadSelection(.states([.queued, .paused, .failed]), limit: 20))
        }
        // Names have no index, because only `dlm verify` searches for names.
        try await expect(["SCAN request", ofRequest, detail], of: store) {
            _ = try await store.records(DownloadSelection(.file(folder: "/d", name: "n")))
        }
        try await expect(details.union(["SEARCH download USING INTEGER PRIMARY KEY (rowid>?)"]), of: store) {
            _ = try await store.records(DownloadSelection(.all, limit: 20))
        }
        try await expect(queue.union(["\(queued) (session=?)"]), of: store) {
            _ = try await store.queued(session: "s", after: nil, excluding: [], limit: 9)
        }
        try await expect(
            queue.union([
                "\(queued) (session=? AND priority=? AND rowid>?)", "\(queued) (session=? AND priority<?)",
            ]), of: store
        ) {
            _ = try await store.queued(session: "s", after: QueuePosition(priority: 0, id: 1), excluding: [], limit: 9)
        }
        try await expect(queue.union(["\(queued) (session=?)"]), of: store) {
            _ = try await store.queued(session: "s", after: nil, excluding: ["http://a/"], limit: 9)
        }
        try await expect(intents.union(details).union(making).union(["LIST SUBQUERY 1"]), of: store) {
            _ = try await store.change([ids[3]], .pause, session: "s")
        }
        try await expect(intents.union(details).union([byID]), of: store) {
            _ = try await store.claim([ids[0]], session: "s")
        }
        // This query runs once an hour. An index of times would cost each file more than the scan.
        try await expect(["SCAN detail", "SCALAR SUBQUERY 1", "SCAN CONSTANT ROW"], of: store) {
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
        let atWork = "SEARCH detail USING INDEX detailByState (state=?)"
        let moved = details.union([array, byID, detail, "LIST SUBQUERY 1"])
        try await expect(
            intents.union(moved).union(making).union([
                atWork, requests, ofRequest, "SEARCH detail USING INDEX detailQueued (session>? AND session<?)",
                "SEARCH detail USING INDEX detailQueued (session=?)",
                "SEARCH request USING INDEX requestQueued (session>? AND session<?)",
            ]), of: store
        ) { try await store.releaseDeadSessions() }
        try await expect(
            intents.union(moved).union([
                atWork, "SEARCH detail USING INDEX detailPaused (session=? AND stateDetail=?)",
            ]), of: store
        ) { try await store.requeue(session: "s") }
        try await expect(
            moved.union(making).union([requests, ofRequest, "SEARCH detail USING INDEX detailQueued (session=?)"]),
            of: store
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
        _ = try await store.remove([1], session: "s")
        let dropping = try await plans(store) { try await store.dropEvents(keeping: 2) }
        #expect(dropping.contains("\(bySeq) (rowid<?)"))
        // Only the log's first row, the few rows of `sqlite_sequence` and the segments are read whole. Rows of removed
        // downloads and of segments may be deleted with dropped events.
        let scans = Set(dropping.filter { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" && $0 != array })
        #expect(scans == ["SCAN sqlite_sequence", "SCAN event"], "\(scans)")
        #expect(dropping.contains(segments))
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
