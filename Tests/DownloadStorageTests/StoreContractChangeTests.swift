import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

/// The contract of every store for changes of single downloads.
@Suite("Every store: changes of downloads", .inTurn)
struct StoreContractChangeTests {
    let folder = TemporaryFolder()

    private func add(
        _ store: any DownloadStore, _ name: String, _ session: String?, _ state: DownloadState
    ) async throws -> DownloadRecord {
        var record = try await store.add([Sample.request(name)], session: session ?? "any")[0].record
        record.state = state
        record.session = session
        record.speed = 3
        record.resume.written = ByteRanges([0..<10])
        record.updated = Date(timeIntervalSince1970: 1_700_000_000)
        #expect(try await store.save([record], session: session ?? "any") == [])
        return record
    }

    @Test(
        "Downloads that no session runs are paused, cancelled and changed, in the given order",
        arguments: StoreKind.allCases)
    func changes(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let first = try await add(store, "a", nil, .paused(.interrupted))
        let second = try await add(store, "b", "foreground-dead", .running)
        let ids = [second.id, first.id]

        let paused = try await store.change(ids + ids, .pause, session: "me")
        #expect(paused.map(\.record.id) == ids)
        #expect(paused.allSatisfy { $0.didChange && $0.record.state == .paused(.user) && $0.record.session == nil })
        #expect(paused.allSatisfy { $0.record.speed == nil && $0.record.received == 10 })
        #expect(paused.allSatisfy { $0.record.updated > first.updated })
        #expect(try await store.records(.ids(ids)) == paused.map(\.record))

        let again = try await store.change(ids, .pause, session: "me")
        #expect(again == paused.map { ChangedRecord(record: $0.record, didChange: false) })
        let cancelled = try await store.change([first.id], .cancel, session: "me")[0]
        #expect(cancelled.didChange && cancelled.record.state == .cancelled && cancelled.record.received == 10)
        let urgent = try await store.change([second.id], .priority(5), session: "me")[0]
        #expect(urgent.didChange && urgent.record.request.priority == 5)
        let slow = try await store.change([second.id], .rateLimit(1000), session: "me")[0]
        #expect(slow.record.request.rateLimit == 1000)
        let other = try Sample.request("elsewhere").url
        let moved = try await store.change([second.id], .url(other, nil), session: "me")[0]
        #expect(moved.record.request.url == other && moved.record.resume.movedFrom == second.request.url)
        #expect(moved.record.state == .paused(.user))
        #expect(try await store.records(.ids(ids)) == [moved.record, cancelled.record])
        #expect(try await store.add([Sample.request("elsewhere")], session: "me")[0].record.id == second.id)
    }

    @Test(
        "A changed queued download keeps its session, unless a foreground session is dead or cancels the download",
        arguments: StoreKind.allCases)
    func owners(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        /// Returns the session of a queued download of `owner` after `asker` has changed the download.
        func session(_ owner: String, _ change: DownloadChange, by asker: String) async throws -> String? {
            let record = try await add(store, UUID().uuidString, owner, .queued)
            return try await store.change([record.id], change, session: asker)[0].record.session
        }
        #expect(try await session("foreground-me", .pause, by: "foreground-me") == "foreground-me")
        #expect(try await session("foreground-me", .cancel, by: "foreground-me") == nil)
        #expect(try await session("foreground-me", .priority(1), by: "foreground-me") == "foreground-me")
        #expect(try await session("foreground-dead", .pause, by: "foreground-me") == nil)
        #expect(try await session("dead", .pause, by: "foreground-me") == "dead")
        #expect(try await session("dead", .cancel, by: "foreground-me") == "dead")
        #expect(try await session("background", .pause, by: "background") == "background")
        #expect(try await session("background", .cancel, by: "background") == "background")
    }

    @Test("Only the session that keeps a paused download can claim it", arguments: StoreKind.allCases)
    func heldPaused(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let record = try await add(store, "a", "foreground-me", .queued)
        _ = try await store.change([record.id], .pause, session: "foreground-me")
        try #require(try await store.claim([record.id], session: "other")[0].kind == .running)
        let claimed = try await store.claim([record.id], session: "foreground-me")[0]
        #expect(claimed.record.state == .queued && claimed.record.session == "foreground-me")
    }

    @Test("Nothing is changed if one id is unknown or belongs to another live session", arguments: StoreKind.allCases)
    func refuses(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let free = try await add(store, "a", nil, .paused(.interrupted))
        let held = try await add(store, "b", "other", .paused(.user))
        let owned = try await add(store, "c", "other", .queued)
        let over = try await add(store, "d", "other", .failed(.cancelled))
        let last = try await store.eventBounds().last

        await #expect(throws: DownloadError.noSuchDownload(99)) {
            try await store.change([free.id, owned.id, 99], .pause, session: "me")
        }
        for id in [held.id, owned.id] {
            await #expect(throws: DownloadError.sessionUnavailable(.ownedElsewhere(id, session: "other"))) {
                try await store.change([free.id, id], .cancel, session: "me")
            }
        }
        #expect(try await store.records(.all) == [free, held, owned, over])
        #expect(try await store.eventBounds().last == last)
        #expect(try await store.change([over.id], .cancel, session: "me")[0].record.state == .cancelled)
        #expect(try await store.change([], .cancel, session: "me") == [])
    }

    @Test("A change that has no effect is reported as no change", arguments: StoreKind.allCases)
    func nothingToDo(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        for (change, state) in [
            (DownloadChange.pause, DownloadState.completed), (.pause, .failed(.cancelled)), (.pause, .cancelled),
            (.cancel, .completed), (.cancel, .cancelled), (.priority(0), .paused(.user)),
            (.rateLimit(nil), .paused(.user)),
        ] {
            let record = try await add(store, UUID().uuidString, nil, state)
            let result = try await store.change([record.id], change, session: "me")
            #expect(result == [ChangedRecord(record: record, didChange: false)])
            #expect(try await store.records(.ids([record.id])) == [record])
        }
    }
}
