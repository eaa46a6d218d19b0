import DownloadCore
import DownloadTestSupport
import Foundation
import GRDB
import Synchronization
import Testing

@testable import DownloadStorage

/// Many connections to one file. Several processes differ from this only in their locks, which the last test covers.
@Suite("SQLiteDownloadStore: twenty stores on one file", .inTurn, .timeLimit(.minutes(2)))
struct ConcurrentStoresTests {
    let folder = TemporaryFolder()

    @Test("Twenty stores open, migrate, add and save at the same moment without an error")
    func addAndSave() async throws {
        let folder = folder
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await work(on: folder.path, session: "s\(number)", rounds: 20) }
            }
            try await group.waitForAll()
        }
        let records = try await folder.open().records(.all)
        #expect(records.count == 400)
        try await expectWholeLog(of: records, in: folder)
        #expect(Set(records.map(\.id)).count == 400)
        #expect(records.allSatisfy { $0.state == .completed && $0.received == 7 })
    }

    @Test("Stores that create the file together are all opened, every time")
    func opening() async throws {
        for _ in 0..<20 {
            let fresh = TemporaryFolder()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { #expect(throws: Never.self) { _ = try fresh.open() } }
                }
            }
        }
    }

    @Test("Twenty stores make one download of the same request")
    func sameRequest() async throws {
        let folder = folder
        let request = try Sample.request()
        let added = try await withThrowingTaskGroup(of: AddedDownload.self) { group in
            for number in 0..<20 {
                group.addTask { try await folder.open().add([request], session: "s\(number)")[0] }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(added.map(\.record.id)).count == 1)
        #expect(added.filter { $0.kind == .inserted }.count == 1)
        #expect(added.filter { $0.kind == .joined }.count == 19)
    }

    @Test("No download is claimed twice")
    func claims() async throws {
        let folder = folder
        let isAlive: @Sendable (String) -> Bool = { $0 != "dead" }
        let ids = try await folder.open().add((0..<50).map { try Sample.request("\($0)") }, session: "dead")
            .map(\.record.id)
        let claimed = try await withThrowingTaskGroup(of: [DownloadID].self) { group in
            for number in 0..<20 {
                group.addTask {
                    let store = try folder.open(isAlive: isAlive)
                    var mine: [DownloadID] = []
                    for id in ids {
                        let claimed = try await store.claim([id], session: "s\(number)")[0]
                        if claimed.kind == .claimed { mine.append(id) }
                    }
                    return mine
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.sorted() == ids)
    }

    @Test("If a download gets a row of `detail` between two statements of a reader, it is found once")
    func detailWhileReading() async throws {
        let (reader, other) = (try folder.open(), try folder.open())
        let ids = try await reader.add((0..<3).map { try Sample.request("\($0)") }, session: "s").map(\.record.id)
        let isDone = Mutex(false)
        reader.database.inDatabase { db in
            db.trace { event in
                guard case .statement(let statement) = event, statement.sql.contains("requestQueued"),
                    isDone.withLock({ isDone in
                        defer { isDone = true }
                        return !isDone
                    })
                else { return }
                #expect(throws: Never.self) { try other.database.write { try Details(db: $0).make([ids[1]]) } }
            }
        }
        #expect(try await reader.records(DownloadSelection(.states([.queued]))).map(\.id) == ids)
        #expect(isDone.withLock { $0 })
        reader.database.inDatabase { $0.trace(options: []) }
        #expect(try await reader.records(DownloadSelection(.states([.queued]))).map(\.id) == ids)
        #expect(try await other.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM detail") } == 1)
    }

    @Test("A reader of the log gets each event once, in order, while other stores write")
    func readingAlong() async throws {
        let folder = folder
        let reader = try folder.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { try await work(on: folder.path, session: "s\(number)", rounds: 10) }
            }
            var cursors: [EventCursor] = []
            var completed = 0
            while completed < 80 {
                let events = try await reader.events(after: cursors.last ?? 0, limit: 7)
                cursors += events.map(\.cursor)
                completed += events.count { $0.kind == .completed }
            }
            #expect(cursors == Array(1...240))
            try await group.waitForAll()
        }
        #expect(try await reader.eventBounds() == (0, 240))
    }

    @Test("No event is lost while some stores write and others drop old events")
    func dropping() async throws {
        let folder = folder
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask { try await work(on: folder.path, session: "s\(number)", rounds: 10) }
                group.addTask {
                    let store = try folder.open()
                    for _ in 0..<10 { try await store.dropEvents(keeping: 20) }
                }
            }
            try await group.waitForAll()
        }
        let store = try folder.open()
        try await store.dropEvents(keeping: 20)
        #expect(try await store.eventBounds() == (100, 120))
        #expect(try await store.events(after: 0, limit: 99).map(\.cursor) == Array(101...120))
    }

    @Test("If twenty stores make the same change at the same time, it happens only once")
    func changes() async throws {
        let folder = folder
        let id = try await folder.open().add([Sample.request()], session: "background-dead")[0].record.id
        let changed = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let store = try folder.open(isAlive: { _ in false })
                    return try await store.change([id], .pause, session: "me")[0].didChange
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(changed == 1)
        #expect(try await folder.open().events(after: 0, limit: 99).map(\.kind) == [.added, .paused])
    }

    #if compiler(>=6.2)
        @Test("Ten processes share one file")
        func processes() async throws {
            setenv(Self.folderVariable, folder.path, 1)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        await #expect(processExitsWith: .success) {
                            let path = try #require(ProcessInfo.processInfo.environment[Self.folderVariable])
                            try await work(on: path, session: "p\(getpid())", rounds: 10)
                        }
                    }
                }
            }
            let records = try await folder.open().records(.all)
            #expect(Set(records.map(\.session)).count == 10)
            #expect(records.count == 100)
            try await expectWholeLog(of: records, in: folder)
            #expect(records.allSatisfy { $0.state == .completed })
        }

        private static let folderVariable = "DLM_TEST_STORE"
    #endif
}

/// Expects that the log has, for each download, its addition, its start and its completion, in this order and nothing
/// else.
private func expectWholeLog(of records: [DownloadRecord], in folder: TemporaryFolder) async throws {
    let events = try await folder.open().events(after: 0, limit: .max)
    #expect(events.map(\.cursor) == Array(1...EventCursor(3 * records.count)))
    let kinds = Dictionary(grouping: events, by: \.id).mapValues { $0.map(\.kind) }
    #expect(Set(kinds.keys) == Set(records.map(\.id)))
    #expect(kinds.values.allSatisfy { $0 == [.added, .started, .completed] })
}

/// Works as a session does: opens the store, then adds, starts and completes one download after the other.
private func work(on folder: String, session: String, rounds: Int) async throws {
    let store = try SQLiteDownloadStore(folder: folder, isAlive: { _ in true })
    for round in 0..<rounds {
        let added = try await store.add([Sample.request("\(session)-\(round)")], session: session)
        var record = added[0].record
        record.state = .running
        try #require(try await store.save([record], session: session) == [])
        record.state = .completed
        record.resume.written = ByteRanges([0..<7])
        try #require(try await store.save([record], session: session) == [])
    }
    await store.close()
}
