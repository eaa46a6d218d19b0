import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

/// The contract of every store for adding, saving and claiming.
@Suite("Every store: adding, saving and claiming", .inTurn)
struct StoreContractTests {
    let folder = TemporaryFolder()

    @Test("Requests are added in order, queued and owned by the session that adds them", arguments: StoreKind.allCases)
    func inserts(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let requests = try [Sample.request("a"), Sample.request("b", as: "c")]
        let added = try await store.add(requests, session: "s")
        #expect(added.map(\.kind) == [.inserted, .inserted])
        #expect(added.map(\.record.request) == requests)
        #expect(added.map(\.record.state) == [.queued, .queued])
        #expect(added.map(\.record.session) == ["s", "s"])
        #expect(added[0].record.id < added[1].record.id)
        let stored = try await store.records(.all)
        #expect(stored == added.map(\.record))
    }

    @Test("Every field of a record is kept", arguments: StoreKind.allCases)
    func keepsFields(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let added = try await store.add([Sample.request()], session: "s")
        let record = try Sample.filled(added[0].record)
        #expect(try await store.save([record], session: "s") == [])
        #expect(try await store.records(.ids([record.id])) == [record])
    }

    @Test("Every state is kept", arguments: StoreKind.allCases)
    func keepsStates(kind: StoreKind) async throws {
        let states: [DownloadState] = [
            .queued, .running, .waiting(.retry(.cancelled), until: nil), .paused(.hangup), .completed,
            .failed(.verificationFailed(.size(expected: 1, actual: 2))), .cancelled,
        ]
        let store = try kind.make(in: folder)
        var record = try await store.add([Sample.request()], session: "s")[0].record
        for state in states {
            record.state = state
            #expect(try await store.save([record], session: "s") == [])
            #expect(try await store.records(.ids([record.id])).map(\.state) == [state])
        }
    }

    @Test("A request joins the same request of its own session, even within one call", arguments: StoreKind.allCases)
    func joinsOwn(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let twice = try await store.add([Sample.request(), Sample.request()], session: "s")
        #expect(twice.map(\.kind) == [.inserted, .joined])
        let again = try await store.add([Sample.request()], session: "s")
        #expect(again.map(\.kind) == [.joined])
        #expect(Set((twice + again).map(\.record.id)).count == 1)
    }

    @Test("A list of new, known and repeated requests is answered in its order", arguments: StoreKind.allCases)
    func mixedList(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var known = try await store.add((3...5).map { try Sample.request("\($0)") }, session: "s").map(\.record)
        known[1].state = .failed(.cancelled)
        _ = try await store.save([known[1]], session: "s")
        var requests = try (0..<8).map { try Sample.request("\($0)") }
        requests[6].connections = 4
        requests[7].checksum = Checksum(algorithm: .md5, digest: String(repeating: "ab", count: 16))
        requests += [requests[0], try Sample.request("0", as: "other"), try Sample.request("new"), requests[3]]
        let added = try await store.add(requests, session: "s")
        let expected: [AddedDownload.Kind] = [
            .inserted, .inserted, .inserted, .joined, .adopted, .joined, .inserted, .inserted,
            .joined, .inserted, .inserted, .joined,
        ]
        #expect(added.map(\.kind) == expected)
        #expect(added.map(\.record.id) == [4, 5, 6, 1, 2, 3, 7, 8, 4, 9, 10, 1])
        #expect(added.map(\.record.request) == requests)
        let stored = try await store.records(.ids(added.map(\.record.id)))
        #expect(stored.map(\.request) == Array(requests[0..<8] + requests[9...10]))
        #expect(stored.allSatisfy { $0.state == .queued && $0.session == "s" })
    }

    @Test("Of several downloads with one URL, a request finds the newest", arguments: StoreKind.allCases)
    func newest(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let ids = try await store.add([Sample.request("a"), Sample.request("b")], session: "s").map(\.record.id)
        // `set-url` can lead to two downloads with one URL.
        _ = try await store.change([ids[0]], .url(Sample.request("b").url, nil), session: "s")
        #expect(try await store.add([Sample.request("b")], session: "s").map(\.record.id) == [ids[1]])
    }

    @Test("Requests differ by URL, folder and requested name", arguments: StoreKind.allCases)
    func tellsApart(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let requests = try [
            Sample.request("a"), Sample.request("b"), Sample.request("a", folder: "/tmp"),
            Sample.request("a", as: "x"), Sample.request("a", as: "y"),
        ]
        let added = try await store.add(requests, session: "s")
        #expect(added.allSatisfy { $0.kind == .inserted })
    }

    @Test(
        "A request joins a download that a live session runs or another one has paused, and adopts any other",
        arguments: StoreKind.allCases, ownershipCases)
    func addsToExisting(kind: StoreKind, row: OwnershipCase) async throws {
        let store = try kind.make(in: folder)
        let before = try await prepare(row, in: store)
        var request = try Sample.request()
        request.connections = 3
        let added = try await store.add([request], session: "me")[0]
        #expect(added.kind == (row.isBusy ? .joined : .adopted))
        #expect(added.record.id == before.id)
        if row.isBusy {
            #expect(added.record == before)
        } else {
            #expect(added.record.state == .queued)
            #expect(added.record.session == "me")
            #expect(added.record.request == request)
            #expect(added.record.resume == before.resume)
            #expect(added.record.fileName == before.fileName)
            #expect(added.record.isFinishing)
        }
        #expect(try await store.records(.all) == [added.record])
    }

    @Test("A request from the network does not replace the request of a command", arguments: StoreKind.allCases)
    func keepsRequest(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        var own = try Sample.request("a")
        own.checksum = Checksum("sha-256:" + String(repeating: "0", count: 64))
        var record = try #require(try await store.add([own], session: "s").first?.record)
        record.state = .cancelled
        record.session = nil
        _ = try await store.save([record], session: "s")
        var other = try Sample.request("a")
        other.destination.followsLinks = false
        other.headers = [RequestHeader(name: "X", value: "1")]
        let added = try await store.add([other], session: "s")[0]
        #expect(added.kind == .adopted && added.record.request == own && added.record.state == .queued)
        let again = try await store.records(.all)
        #expect(again.map(\.request) == [own])
    }

    @Test(
        "A claim takes a download unless it is completed, a live session runs it, or another one has paused it",
        arguments: StoreKind.allCases, ownershipCases)
    func claims(kind: StoreKind, row: OwnershipCase) async throws {
        let store = try kind.make(in: folder)
        let before = try await prepare(row, in: store)
        let claimed = try await store.claim([before.id, before.id], session: "me")
        try #require(claimed.count == 1)
        let record = claimed[0].record
        switch claimed[0].kind {
        case .running:
            #expect(row.isBusy)
            #expect(record == before)
        case .completed:
            #expect(row.state == .completed)
            #expect(record == before)
        case .claimed:
            #expect(!row.isBusy && row.state != .completed)
            #expect(record.state == .queued && record.session == "me" && record.speed == nil)
            #expect(record.resume == before.resume && record.attempts == before.attempts)
        }
        #expect(try await store.records(.all) == claimed.map(\.record))
    }

    @Test("A completed download is claimed only if the caller asks for such downloads", arguments: StoreKind.allCases)
    func claimsCompleted(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let before = try await prepare(OwnershipCase(state: .completed, owner: nil, isBusy: false), in: store)
        let claimed = try await store.claim([before.id], session: "me", includingCompleted: true)
        #expect(claimed.map(\.record.state) == [.queued])
        #expect(claimed.map(\.record.session) == ["me"])
        #expect(claimed.map(\.record.completed) == [before.completed])
        #expect(try await store.records(.all) == claimed.map(\.record))
    }

    private func prepare(_ row: OwnershipCase, in store: any DownloadStore) async throws -> DownloadRecord {
        var record = try await store.add([Sample.request()], session: "owner")[0].record
        record.state = row.state
        record.session = row.owner
        record.fileName = "a"
        record.isFinishing = true
        record.speed = 5
        record.resume.written = ByteRanges([0..<10])
        record.updated = Date(timeIntervalSince1970: 1_700_000_000)
        #expect(try await store.save([record], session: "owner") == [])
        return try await store.records(.ids([record.id]))[0]
    }
}

/// The state and the session of a download, and whether session "me" must therefore not take the download.
struct OwnershipCase: Sendable, CustomTestStringConvertible {
    let state: DownloadState
    let owner: String?
    let isBusy: Bool

    var testDescription: String { "\(state.kind) of \(owner ?? "nobody")" }
}

private let ownershipCases: [OwnershipCase] = [
    OwnershipCase(state: .queued, owner: "other", isBusy: true),
    OwnershipCase(state: .running, owner: "other", isBusy: true),
    OwnershipCase(state: .waiting(.retry(.cancelled), until: nil), owner: "other", isBusy: true),
    OwnershipCase(state: .paused(.user), owner: "other", isBusy: true),
    OwnershipCase(state: .completed, owner: "other", isBusy: false),
    OwnershipCase(state: .running, owner: "me", isBusy: true),
    OwnershipCase(state: .paused(.user), owner: "me", isBusy: false),
    OwnershipCase(state: .running, owner: "dead", isBusy: false),
    OwnershipCase(state: .paused(.user), owner: "dead", isBusy: false),
    OwnershipCase(state: .queued, owner: nil, isBusy: false),
    OwnershipCase(state: .paused(.terminate), owner: nil, isBusy: false),
    OwnershipCase(state: .failed(.cancelled), owner: nil, isBusy: false),
    OwnershipCase(state: .cancelled, owner: nil, isBusy: false),
    OwnershipCase(state: .completed, owner: nil, isBusy: false),
]
