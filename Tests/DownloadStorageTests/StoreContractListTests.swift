import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

/// The contract of every store for lists, queues and removal.
@Suite("Every store: lists, queues and removal", .inTurn)
struct StoreContractListTests {
    let folder = TemporaryFolder()

    @Test("The queue is read by priority, then by id, from a given position", arguments: StoreKind.allCases)
    func queue(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let priorities = [0, 5, -3, 5, 0]
        let requests = try priorities.enumerated().map { try Sample.request("\($0)", priority: $1) }
        let ids = try await store.add(requests, session: "s").map(\.record.id)
        _ = try await store.add([Sample.request("foreign", priority: 9)], session: "other")
        let inOrder = [1, 3, 0, 4, 2].map { ids[$0] }

        #expect(try await store.queued(session: "s", after: nil, excluding: [], limit: 10).map(\.id) == inOrder)
        var position: QueuePosition?
        var seen: [DownloadID] = []
        while let next = try await store.queued(session: "s", after: position, excluding: [], limit: 2).last {
            seen += try await store.queued(session: "s", after: position, excluding: [], limit: 2).map(\.id)
            position = QueuePosition(priority: next.priority, id: next.id)
        }
        #expect(seen == inOrder)
    }

    @Test("Downloads are found by the name that their file has or will have", arguments: StoreKind.allCases)
    func byFile(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var records = try await store.add((0..<4).map { try Sample.request("\($0)") }, session: "s").map(\.record)
        for index in 1...3 { records[index].fileName = index == 3 ? "other" : "file" }
        _ = try await store.save(records, session: "s")
        let place = records[0].request.destination.folder
        func found(_ name: String, in folder: String, limit: Int? = nil) async throws -> [DownloadID] {
            try await store.records(DownloadSelection(.file(folder: folder, name: name), limit: limit)).map(\.id)
        }
        #expect(try await found("file", in: place) == [records[1].id, records[2].id])
        #expect(try await found("file", in: place, limit: 1) == [records[2].id])
        #expect(try await found("file", in: place + "/x").isEmpty)
        #expect(try await found("none", in: place).isEmpty)
    }

    @Test("Downloads that run or are paused are not in the queue", arguments: StoreKind.allCases)
    func queueOfQueued(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var records = try await store.add((0..<3).map { try Sample.request("\($0)") }, session: "s").map(\.record)
        records[0].state = .running
        records[2].state = .paused(.user)
        _ = try await store.save(records, session: "s")
        #expect(try await store.queued(session: "s", after: nil, excluding: [], limit: 10).map(\.id) == [records[1].id])
    }

    @Test("Records of another session are not saved, and their ids are returned", arguments: StoreKind.allCases)
    func lost(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var records = try await store.add([Sample.request("a"), Sample.request("b")], session: "dead")
            .map(\.record)
        _ = try await store.claim([records[0].id], session: "s")
        records[0].state = .running
        records[1].state = .running
        var unknown = records[1]
        unknown.id = 99
        #expect(try await store.save(records + [unknown], session: "dead") == [records[0].id, 99])
        let stored = try await store.records(.all)
        #expect(stored.map(\.state) == [.queued, .running])
        #expect(stored.map(\.session) == ["s", "dead"])
    }

    @Test("Downloads are listed page by page, by id", arguments: StoreKind.allCases)
    func pages(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var records = try await store.add((0..<5).map { try Sample.request("\($0)") }, session: "s").map(\.record)
        records[2].state = .paused(.user)
        _ = try await store.save([records[2]], session: "s")
        let ids = records.map(\.id)
        func page(_ which: DownloadSelection.Which, _ limit: Int?, _ after: DownloadID) async throws -> [DownloadID] {
            try await store.records(DownloadSelection(which, limit: limit, after: after)).map(\.id)
        }
        #expect(try await page(.all, 2, 0) == [ids[0], ids[1]])
        #expect(try await page(.all, 2, ids[1]) == [ids[2], ids[3]])
        #expect(try await page(.all, nil, ids[3]) == [ids[4]])
        #expect(try await page(.all, 2, ids[4]) == [])
        #expect(try await page(.states([.queued]), 2, ids[1]) == [ids[3], ids[4]])
        #expect(try await page(.states([.paused]), 2, ids[2]) == [])
    }

    @Test("A download that is saved without a session belongs to no session", arguments: StoreKind.allCases)
    func letsGo(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var record = try await store.add([Sample.request()], session: "s")[0].record
        record.state = .paused(.interrupt)
        record.session = nil
        #expect(try await store.save([record], session: "s") == [])
        #expect(try await store.save([record], session: "s") == [record.id])
        #expect(try await store.claim([record.id], session: "t").map(\.record.session) == ["t"])
    }

    @Test("Saves keep their order", arguments: StoreKind.allCases)
    func order(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let record = try await store.add([Sample.request()], session: "s")[0].record
        var versions = [record, record]
        versions[0].fileName = "first"
        versions[1].fileName = "second"
        _ = try await store.save(versions, session: "s")
        #expect(try await store.records(.all).map(\.fileName) == ["second"])
    }

    @Test("Downloads are listed by id or by state, and a limit selects the newest", arguments: StoreKind.allCases)
    func lists(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var records = try await store.add((0..<5).map { try Sample.request("\($0)") }, session: "s").map(\.record)
        records[1].state = .completed
        records[3].state = .completed
        _ = try await store.save(records, session: "s")
        let ids = records.map(\.id)
        func listed(_ which: DownloadSelection.Which, _ limit: Int? = nil) async throws -> [DownloadID] {
            try await store.records(DownloadSelection(which, limit: limit)).map(\.id)
        }
        #expect(try await listed(.all) == ids)
        #expect(try await listed(.all, 2) == Array(ids.suffix(2)))
        #expect(try await listed(.all, 0) == [])
        #expect(try await listed(.states([.completed])) == [ids[1], ids[3]])
        #expect(try await listed(.states([.completed, .queued]), 3) == [ids[2], ids[3], ids[4]])
        #expect(try await listed(.states([])) == [])
        #expect(try await listed(.ids([ids[4], ids[0], ids[4]])) == [ids[4], ids[0]])
        #expect(try await listed(.ids([ids[4], ids[0], ids[2]]), 2) == [ids[4], ids[2]])
    }

    @Test("Reads, claims and removals fail and change nothing if an id is unknown", arguments: StoreKind.allCases)
    func unknown(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var record = try await store.add([Sample.request()], session: "s")[0].record
        record.state = .failed(.cancelled)
        record.session = nil
        _ = try await store.save([record], session: "s")
        let ids = [record.id, 77]
        await #expect(throws: DownloadError.noSuchDownload(77)) { try await store.records(.ids(ids)) }
        await #expect(throws: DownloadError.noSuchDownload(77)) { try await store.claim(ids, session: "s") }
        await #expect(throws: DownloadError.noSuchDownload(77)) { try await store.remove(ids, session: "s") }
        #expect(try await store.records(.all).map(\.state) == [.failed(.cancelled)])
    }

    @Test("A removed id is never used again", arguments: StoreKind.allCases)
    func removes(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let added = try await store.add([Sample.request("a"), Sample.request("b")], session: "s").map(\.record)
        #expect(try await store.remove(added.map(\.id), session: "s") == added)
        #expect(try await store.records(.all) == [])
        let again = try await store.add([Sample.request("b")], session: "s")
        #expect(again.map(\.kind) == [.inserted])
        #expect(again[0].record.id > added[1].id)
    }

    @Test("Downloads of another live session are not removed", arguments: StoreKind.allCases)
    func refusesRemoval(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let mine = try await store.add([Sample.request("a")], session: "s")[0].record
        let theirs = try await store.add([Sample.request("b")], session: "other")[0].record
        let dead = try await store.add([Sample.request("c")], session: "dead")[0].record
        await #expect(throws: DownloadError.sessionUnavailable(.ownedElsewhere(theirs.id, session: "other"))) {
            try await store.remove([mine.id, theirs.id], session: "s")
        }
        #expect(try await store.records(.all).count == 3)
        #expect(try await store.remove([mine.id, dead.id], session: "s") == [mine, dead])
    }

    @Test("A call without ids or requests does nothing", arguments: StoreKind.allCases)
    func nothing(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        #expect(try await store.add([], session: "s").isEmpty)
        #expect(try await store.claim([], session: "s") == [])
        #expect(try await store.save([], session: "s") == [])
        #expect(try await store.remove([], session: "s") == [])
        #expect(try await store.records(.ids([])) == [])
        try await store.releaseDeadSessions()
        await store.close()
    }
}
