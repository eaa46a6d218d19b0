import DownloadCore
import Foundation
import GRDB
import Synchronization
import DownloadTestSupport
import Testing

@testable import DownloadStorage

/// Counts the commits of a store.
private final class CommitCounter: TransactionObserver, Sendable {
    private let commits = Mutex(0)

    var count: Int { commits.withLock(\.self) }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { commits.withLock { $0 += 1 } }
    func databaseDidRollback(_ db: Database) {}
}

/// Records how each transaction was synced (PRAGMA synchronous).
private final class SyncModes: TransactionObserver, Sendable {
    private struct Log {
        var modes: [Int?] = []
        /// The downloads that the open transaction has written so far.
        var rows: Set<Int64> = []
        var fullySynced: Set<Int64> = []
    }

    private let log = Mutex(Log())

    var seen: [Int?] { log.withLock { $0.modes } }
    /// The downloads that were written in a transaction that synced SQLite's write-ahead log.
    var fullySynced: Set<Int64> { log.withLock { $0.fullySynced } }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {
        if event.tableName == "detail" { log.withLock { _ = $0.rows.insert(event.rowID) } }
    }
    func databaseDidCommit(_ db: Database) {
        let mode = (try? Int.fetchOne(db, sql: "PRAGMA synchronous")) ?? nil
        log.withLock { log in
            log.modes.append(mode)
            if mode == 2 { log.fullySynced.formUnion(log.rows) }
            log.rows = []
        }
    }
    func databaseDidRollback(_ db: Database) {}
}

@Suite("SQLiteDownloadStore: group commit", .inTurn)
struct GroupCommitTests {
    let folder = TemporaryFolder()

    @Test("Many saves share few transactions, which are 5 ms apart except for the first eight")
    func groups() async throws {
        let store = try folder.open()
        let records = try await store.add((0..<400).map { try Sample.request("\($0)") }, session: "s").map(\.record)
        let counter = CommitCounter()
        store.database.add(transactionObserver: counter)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Set<DownloadID>.self) { group in
            for var record in records {
                record.state = .running
                let running = record
                group.addTask { try await store.save([running], session: "s") }
            }
            for try await lost in group { #expect(lost == []) }
        }
        let most = Int((ContinuousClock.now - start) / .milliseconds(5)) + 9
        #expect(counter.count >= 1 && counter.count <= most)
        #expect(try await store.records(DownloadSelection(.states([.running]))).count == 400)
    }

    @Test("A store in memory does not wait for further saves", .timeLimit(.minutes(1)))
    func inMemory() async throws {
        // The clock stands still, so a save that waits would never return.
        let store = try SQLiteDownloadStore(folder: nil, isAlive: { _ in true }, time: ManualTime())
        var record = try await store.add([Sample.request()], session: "s")[0].record
        for number in 1...50 {
            record.resume.total = Int64(number)
            #expect(try await store.save([record], session: "s", durably: number % 2 == 0) == [])
        }
        #expect(try await store.records(.all).map(\.resume.total) == [50])
    }

    @Test("SQLite's write-ahead log is synced only for saves that must survive a loss of power")
    func durable() async throws {
        let store = try folder.open()
        let modes = SyncModes()
        store.database.add(transactionObserver: modes)
        let record = try await store.add([Sample.request("a")], session: "s")[0].record
        for durably in [false, true, false] { _ = try await store.save([record], session: "s", durably: durably) }
        // 2 means FULL, and 1 means NORMAL.
        #expect(modes.seen == [2, 1, 2, 1])
    }

    @Test("SQLite's write-ahead log is synced for a whole group if one of its saves must survive a loss of power")
    func durableInGroup() async throws {
        let store = try folder.open()
        let records = try await store.add((0..<100).map { try Sample.request("\($0)") }, session: "s").map(\.record)
        let modes = SyncModes()
        store.database.add(transactionObserver: modes)
        let durable = Set(records.map(\.id).filter { $0.rawValue % 2 == 0 })
        try await withThrowingTaskGroup(of: Set<DownloadID>.self) { group in
            for record in records {
                group.addTask { try await store.save([record], session: "s", durably: durable.contains(record.id)) }
            }
            for try await lost in group { #expect(lost == []) }
        }
        #expect(Set(durable.map(\.rawValue)).subtracting(modes.fullySynced).isEmpty)
    }

    @Test("Each caller of several saves at a time gets only its own lost ids")
    func lostPerCaller() async throws {
        let store = try folder.open()
        let mine = try await store.add([Sample.request("a")], session: "me")[0].record
        let theirs = try await store.add([Sample.request("b")], session: "them")[0].record
        async let first = store.save([mine], session: "me")
        async let second = store.save([mine, theirs], session: "them")
        async let third = store.save([theirs], session: "me")
        #expect(try await [first, second, third] == [[], [mine.id], [theirs.id]])
    }

    @Test("A save fails with the error of a full disk, and saves work again when there is space")
    func fullDisk() async throws {
        let store = try folder.open()
        let original = try await store.add([Sample.request()], session: "s")[0].record
        try await store.database.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        var large = original
        large.fileName = String(repeating: "x", count: 100_000)
        let tooLarge = large
        for _ in 0..<2 {
            await #expect(throws: DownloadError.fileFailed(.noSpace(needed: nil), path: folder.store)) {
                try await store.save([tooLarge], session: "s")
            }
        }
        #expect(try await store.records(.all) == [original])
        try await store.execute("PRAGMA max_page_count = 100000")
        #expect(try await store.save([tooLarge], session: "s") == [])
        #expect(try await store.records(.all) == [tooLarge])
    }

    @Test("All saves are written when close returns, and later calls are refused")
    func close() async throws {
        let store = try folder.open()
        var record = try await store.add([Sample.request()], session: "s")[0].record
        record.state = .paused(.terminate)
        let paused = record
        let save = Task { try await store.save([paused], session: "s") }
        _ = try await save.value
        await store.close()
        await #expect(throws: DownloadError.sessionUnavailable(.shuttingDown)) {
            try await store.save([paused], session: "s")
        }
        await #expect(throws: DownloadError.sessionUnavailable(.shuttingDown)) { try await store.records(.all) }
        #expect(try await folder.open().records(.all) == [paused])
    }
}
