import DownloadCore
import DownloadTestSupport
import Foundation
import GRDB
import Testing

@testable import DownloadStorage

/// The downloads of a list share a row, and have rows of their own only when they are no longer just queued. Callers of a
/// store cannot see this. An intent records that the files of items are complete and are about to get their names.
@Suite("Every store: the downloads of a list", .inTurn)
struct StoreContractItemTests {
    let folder = TemporaryFolder()

    private func add(
        _ names: [String], to store: any DownloadStore, session: String = "s", priority: Int = 0
    ) async throws -> [DownloadRecord] {
        try await store.add(names.map { try Sample.request($0, priority: priority) }, session: session).map(\.record)
    }

    /// Returns the record as it is when a small file has its name.
    private func completed(_ record: DownloadRecord, _ change: (inout DownloadRecord) -> Void = { _ in })
        -> DownloadRecord
    {
        var record = record
        record.state = .completed
        record.session = nil
        record.fileName = "name of \(record.id)"
        record.updated = Date(timeIntervalSince1970: 1_750_000_000.5)
        record.resume.finalURL = record.request.url
        record.resume.contentType = "text/plain"
        record.resume.acceptsRanges = true
        var attempt = AttemptRecord(started: Date(timeIntervalSince1970: 1_750_000_000.25))
        attempt.ended = record.updated
        attempt.received = 16
        attempt.outcome = "completed"
        attempt.metrics = metrics
        record.attempts = [attempt]
        record.completed = CompletedFile(
            path: "/home/me/name of \(record.id)", bytes: 16,
            identity: FileIdentity(inode: 7, born: 1_700_000_000_000_000_001),
            modified: 1_700_000_000_000_000_123,
            validators: Validators(etag: EntityTag(opaque: "a\"b\\c", isWeak: true), lastModified: "then"))
        change(&record)
        return record
    }

    private var metrics: TransferMetrics {
        var metrics = TransferMetrics()
        (metrics.remoteAddress, metrics.remotePort, metrics.httpVersion, metrics.status) = ("192.0.2.7", 80, "1.1", 206)
        metrics.reusedConnection = true
        (metrics.nameLookup, metrics.connect, metrics.tls) = (0.000_123, 0.001, 0.1)
        (metrics.firstByte, metrics.total, metrics.received) = (0.125, 12.000_001, 16)
        return metrics
    }

    @Test(
        "A completed item whose download is gone is lost, and the others of its list are not",
        arguments: StoreKind.allCases)
    func gone(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let records = try await add(["a", "b", "c"], to: store)
        _ = try await store.remove([records[1].id], session: "s")
        try await store.dropEvents(keeping: 0)
        #expect(try await store.saveAsSession(records.map { completed($0) }, session: "s") == [records[1].id])
        #expect(try await store.records(.all).map(\.id) == [records[0].id, records[2].id])
    }

    @Test("The metrics of items are read as they were saved", arguments: StoreKind.allCases)
    func metricsOfItems(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let records = try await add(["a", "b", "c"], to: store)
        let all: [TransferMetrics?] = [metrics, TransferMetrics(), nil]
        let saved = zip(records, all).map { record, metrics in
            completed(record) { $0.attempts[0].metrics = metrics }
        }
        #expect(try await store.saveAsSession(saved, session: "s") == [])
        #expect(try await store.records(.all) == saved)
    }

    @Test("A completed item is read as it was saved", arguments: StoreKind.allCases)
    func completion(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let records = try await add(["a", "b", "c"], to: store)
        let saved = [
            completed(records[0]), completed(records[1]) { $0.completed?.validators = Validators() },
            // An item has no column for a checksum.
            completed(records[2]) {
                $0.completed?.checksum = Checksum(algorithm: .md5, digest: String(repeating: "a", count: 32))
            },
        ]
        #expect(try await store.saveAsSession(saved, session: "s") == [])
        #expect(try await store.records(.all) == saved)
        #expect(try await store.records(.ids([3, 1])) == [saved[2], saved[0]])
        #expect(try await store.records(DownloadSelection(.states([.completed]), limit: 2)) == Array(saved[1...]))
        #expect(try await store.records(DownloadSelection(.file(folder: "/home/me", name: "name of 1"))) == [saved[0]])
        #expect(try await store.queuedCount(session: "s") == 0)
    }

    @Test(
        "A queued item can be claimed, changed, removed and added again, and items keep their ids",
        arguments: StoreKind.allCases)
    func verbs(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let records = try await add((0..<6).map { "\($0)" }, to: store, session: "dead")
        let done = completed(records[0])
        _ = try await store.saveAsSession([done], session: "dead")
        #expect(try await store.claim([1], session: "s") == [ClaimedDownload(.completed, done)])
        #expect(try await store.change([2], .priority(4), session: "s")[0].record.request.priority == 4)
        #expect(try await store.claim([3], session: "s")[0].record.session == "s")
        #expect(try await store.remove([4], session: "s").map(\.id) == [4])
        #expect(try await add(["4"], to: store)[0].id == 5)
        #expect(try await store.records(.all).map(\.id) == [1, 2, 3, 5, 6])
        await #expect(throws: DownloadError.noSuchDownload(4)) { try await store.records(.ids([4])) }
        #expect(try await add(["new"], to: store)[0].id == 7)
        #expect(try await store.queuedCount(session: "dead") == 2)
        #expect(try await store.queuedCount(session: "s") == 3)
    }

    @Test("An item that has begun leaves the queue", arguments: StoreKind.allCases)
    func begun(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var record = try await add(["a", "b"], to: store)[0]
        record.state = .running
        record.fileName = "a"
        #expect(try await store.saveAsSession([record], session: "other") == [1])
        #expect(try await store.saveAsSession([record], session: "s") == [])
        record.resume.total = 99
        #expect(try await store.saveAsSession([record], session: "s") == [])
        #expect(try await store.records(.ids([1])) == [record])
        #expect(try await store.queued(session: "s", after: nil, excluding: [], limit: 9).map(\.id) == [2])
        #expect(try await store.saveAsSession([completed(record)], session: "s") == [])
        #expect(try await store.records(.all).map(\.state.kind) == [.completed, .queued])
        let kinds = try await store.events(after: 0, limit: 9).map(\.kind)
        #expect(kinds == [.added, .added, .started, .completed])
    }

    @Test("Items are queued by priority and order, together with other downloads", arguments: StoreKind.allCases)
    func order(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        _ = try await add(["a"], to: store, priority: 1)
        _ = try await add(["b", "c", "d"], to: store)
        _ = try await add(["e", "f"], to: store, priority: 1)
        _ = try await add(["g", "h"], to: store, session: "other")
        _ = try await add(["i"], to: store)
        _ = try await add(["j", "k"], to: store, priority: -1)
        let order: [DownloadID] = [1, 5, 6, 2, 3, 4, 9, 10, 11]
        #expect(try await store.queued(session: "s", after: nil, excluding: [], limit: 99).map(\.id) == order)
        #expect(try await store.queuedCount(session: "s") == order.count)
        for (index, id) in order.enumerated() {
            let priority = try await store.records(.ids([id]))[0].request.priority
            let rest = try await store.queued(
                session: "s", after: QueuePosition(priority: priority, id: id), excluding: [], limit: 99)
            #expect(rest.map(\.id) == Array(order[(index + 1)...]))
        }
        let first = try await store.queued(session: "s", after: nil, excluding: [], limit: 4)
        #expect(first.map(\.id) == Array(order.prefix(4)))
        let prefix = "https://example.org/files/c/"
        #expect(try await store.queued(session: "s", after: nil, excluding: [prefix], limit: 99).map(\.id) == order)
        #expect(try await store.queued(session: "s", after: nil, excluding: ["https://example.org/"], limit: 99) == [])
    }

    @Test(
        "The items of a dead foreground session are paused; those of a background session stay queued",
        arguments: StoreKind.allCases)
    func released(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        _ = try await add(["a", "b"], to: store, session: "foreground-dead")
        _ = try await add(["c", "d"], to: store, session: "dead")
        try await store.releaseDeadSessions()
        let records = try await store.records(.all)
        #expect(records.map(\.state) == [.paused(.interrupted), .paused(.interrupted), .queued, .queued])
        #expect(records.map(\.session) == [nil, nil, "dead", "dead"])
        try await store.pauseQueued(session: "dead", reason: .user)
        #expect(try await store.records(.all).map(\.session) == [nil, nil, "dead", "dead"])
    }

    @Test(
        "A session that claims an item of a dead session knows that its file was about to get its name",
        arguments: StoreKind.allCases)
    func intent(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var record = try await add(["a", "b"], to: store, session: "dead")[1]
        record.state = .running
        record.isFinishing = true
        record.fileName = "b (1)"
        record.resume.total = 10
        record.resume.file = FileIdentity(inode: 7, born: 8)
        #expect(try await store.saveAsSession([record], session: "dead", durably: true) == [])
        let found = try await store.claim([2], session: "s")[0].record
        #expect(found.isFinishing && found.fileName == "b (1)" && found.resume.file == record.resume.file)
        #expect(try await store.queued(session: "dead", after: nil, excluding: [], limit: 9).map(\.id) == [1])
        #expect(try await store.events(after: 0, limit: 9).map(\.kind) == [.added, .added, .started, .resumed])
    }

    /// Returns the record of a whole file that is about to get its name.
    private func finishing(_ record: DownloadRecord) -> DownloadRecord {
        var record = record
        record.state = .running
        record.isFinishing = true
        record.fileName = "name of \(record.id)"
        record.resume.total = 16
        return record
    }

    @Test(
        "If an item of a batch is saved again later, the intent of the batch no longer applies to this item",
        arguments: StoreKind.allCases)
    func intentsOfBatch(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let records = try await add(["a", "b", "c", "d"], to: store, session: "dead")
        #expect(try await store.saveAsSession(records.map(finishing), session: "dead", durably: true) == [])
        var paused = records[1]
        paused.state = .paused(.user)
        _ = try await store.saveAsSession([completed(records[0]), paused], session: "dead")
        let found = try await store.claim([1, 2, 3, 4], session: "s").map(\.record)
        #expect(found.map(\.isFinishing) == [false, false, true, true])
        #expect(found.map(\.fileName) == ["name of 1", nil, "name of 3", "name of 4"])
        #expect(found.map(\.state) == [.completed, .queued, .queued, .queued])
    }

    @Test(
        "The intent of an item has everything that is known about its file", arguments: StoreKind.allCases,
        [0, 50, 100])
    func intentOfFile(kind: StoreKind, sparsity: Int) async throws {
        let store = try kind.make(in: folder)
        let records = try await add((0..<20).map { "\($0)" }, to: store, session: "dead")
        let whole = records.enumerated().map { index, record in
            var record = finishing(record)
            record.resume = Carried(sparsity: sparsity, seed: UInt64(index)).whole
            record.resume.total = 16
            return record
        }
        let files = try whole.map { try #require(SmallFile($0, of: "dead")) }
        #expect(try await store.saveAsSession(whole, session: "dead", durably: true) == [])
        let found = try await store.claim(records.map(\.id), session: "s").map(\.record)
        #expect(found.map(\.resume) == files.map(\.resume))
        #expect(found.map(\.fileName) == files.map(\.name) && found.allSatisfy { $0.isFinishing })
    }

    @Test(
        "Damaged intents of a dead session are left out, and the others are used",
        arguments: ["5", "null", #""x""#, "{}", "[]", #"["x","y",16,1]"#, "[1]", #"[1,null,16,1]"#, #"[1,"n",null,1]"#])
    func damagedIntents(damaged: String) async throws {
        let store = try folder.open(isAlive: { $0 != "dead" })
        let record = finishing(try await add(["a", "b"], to: store, session: "dead")[1])
        let file = try #require(SmallFile(record, of: "dead"))
        let good = JSONWriter.text { json in json.array { Intent.write(file, to: &$0) } }
        try await store.perform { db in
            for items in ["[\(damaged),\(good)]", damaged, "["] {
                try db.execute(
                    sql: "INSERT INTO intent (session, files) VALUES ('dead', ?)", arguments: [items])
            }
        }
        let found = try await store.claim([1, 2], session: "s")
        #expect(!found[0].record.isFinishing)
        #expect(found[1].record.isFinishing && found[1].record.fileName == "name of 2")
    }

    @Test("The intent for an item that another session has claimed is refused", arguments: StoreKind.allCases)
    func intentOfAnother(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let records = try await add(["a", "b", "c"], to: store, session: "dead")
        _ = try await store.claim([2], session: "s")
        #expect(try await store.saveAsSession(records.map(finishing), session: "dead", durably: true) == [2])
    }

    @Test("An intent of an earlier completion does not apply to a download that was queued again")
    func outdatedIntent() async throws {
        let store = try folder.open(isAlive: { $0 != "dead" })
        let records = try await add(["a", "b"], to: store, session: "dead")
        _ = try await store.saveAsSession(records.map(finishing), session: "dead", durably: true)
        _ = try await store.saveAsSession([completed(records[0])], session: "dead")
        _ = try await store.claim([1], session: "dead", includingCompleted: true)
        let found = try await store.claim([1, 2], session: "s").map(\.record)
        #expect(found.map(\.isFinishing) == [false, true])
    }

    @Test("A completed file that is queued again has no bytes yet, and its old events keep their size")
    func queuedAgain() async throws {
        let store = try folder.open()
        let records = try await add(["a", "b"], to: store)
        _ = try await store.saveAsSession(records.map { completed($0) }, session: "s")
        let again = try await store.claim([1], session: "s", includingCompleted: true)[0].record
        #expect(try await store.records(.ids([1])) == [again])
        let events = try await store.events(after: 0, limit: 99)
        #expect(events.last?.kind == .resumed && events.last?.received == 0 && events.last?.total == nil)
        #expect(events.filter { $0.kind == .completed }.map(\.total) == [16, 16])
        // Its second completion is written like the first one.
        #expect(try await store.saveAsSession([completed(again)], session: "s") == [])
        #expect(try await store.records(.ids([1])).map(\.state) == [.completed])
        #expect(try await store.events(after: 0, limit: 99).suffix(2).map(\.kind) == [.started, .completed])
    }

    @Test("A removed download stays as long as an event of a batch needs it, whatever the order of the batch")
    func keptForTheLog() async throws {
        let store = try folder.open()
        let records = try await add(["a", "b", "c"], to: store)
        _ = try await store.saveAsSession([records[2], records[0]].map { completed($0) }, session: "s")
        _ = try await store.remove([1], session: "s")
        try await store.dropEvents(keeping: 3)
        let events = try await store.events(after: 0, limit: 9)
        #expect(events.map(\.id) == [3, 1, 1] && events[1].url.hasSuffix("/a"))
    }

    @Test("The row of a batch of intents is deleted when all its downloads have ended")
    func nothingRemains() async throws {
        let store = try folder.open()
        let records = try await add(["a", "b", "c"], to: store)
        _ = try await store.saveAsSession(records.map(finishing), session: "s", durably: true)
        let rows = { try await store.perform { try Int.fetchOne($0, sql: "SELECT count(*) FROM intent") } }
        #expect(try await rows() == 1)
        _ = try await store.saveAsSession(records[..<2].map { completed($0) }, session: "s")
        #expect(try await rows() == 1)
        var failed = records[2]
        failed.state = .failed(.unexpected("gone"))
        _ = try await store.saveAsSession([failed], session: "s")
        #expect(try await rows() == 0)
    }

    @Test("The events of an item are logged like those of other downloads", arguments: StoreKind.allCases)
    func log(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let records = try await add(["a", "b", "c"], to: store)
        _ = try await store.saveAsSession(records[..<2].map(finishing), session: "s", durably: true)
        _ = try await store.saveAsSession(records[..<2].map { completed($0) }, session: "s")
        _ = try await store.remove([1, 3], session: "s")
        let events = try await store.events(after: 0, limit: 99)
        #expect(events.map(\.cursor) == Array(1...9))
        let kinds: [LoggedEvent.Kind] = [.started, .started, .completed, .completed]
        #expect(events[3..<7].map(\.kind) == kinds && events[3..<7].map(\.id) == [1, 2, 1, 2])
        #expect(events[7...].map(\.kind) == [.removed, .removed])
        for event in events {
            #expect(event.url == "https://example.org/files/\(["a", "b", "c"][Int(event.id.rawValue) - 1])")
            #expect(event.session == (event.kind == .removed && event.id == 1 ? nil : "s"))
            let name = [.started, .completed].contains(event.kind) || event.kind == .removed && event.id == 1
            #expect(event.name == (name ? "name of \(event.id)" : ["a", "b", "c"][Int(event.id.rawValue) - 1]))
        }
        #expect(events.filter { $0.kind == .completed }.allSatisfy { $0.received == 16 && $0.total == 16 })
        #expect(events.filter { $0.kind == .started }.allSatisfy { $0.state == .running && $0.received == 0 })
        #expect(events.filter { $0.kind == .added }.allSatisfy { $0.state == .queued && $0.total == nil })
    }

    @Test("Items that ended long ago are removed", arguments: StoreKind.allCases)
    func history(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let records = try await add(["a", "b", "c"], to: store)
        let old = completed(records[0]),
            young = completed(records[1]) { $0.updated = Date(timeIntervalSince1970: 2_000_000_000) }
        _ = try await store.saveAsSession([old, young], session: "s")
        let limit = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(try await store.removeEnded(before: limit, limit: 9) == [old])
        #expect(try await store.removeEnded(before: limit, limit: 9) == [])
        #expect(try await store.records(.all).map(\.id) == [2, 3])
    }

    @Test("A removed download leaves the tables with its last event")
    func forgotten() async throws {
        let store = try folder.open()
        _ = try await add(["a", "b", "c"], to: store)
        _ = try await store.remove([1], session: "s")
        func items() async throws -> [Int64] {
            try await store.database.read { try Int64.fetchAll($0, sql: "SELECT id FROM download ORDER BY id") }
        }
        #expect(try await items() == [1, 2, 3])
        try await store.dropEvents(keeping: 1)
        #expect(try await items() == [2, 3])
        #expect(try await store.queued(session: "s", after: nil, excluding: [], limit: 9).map(\.id) == [2, 3])
        _ = try await store.remove([2, 3], session: "s")
        try await store.dropEvents(keeping: 0)
        #expect(try await items() == [])
        #expect(try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM request") } == 0)
    }
}
