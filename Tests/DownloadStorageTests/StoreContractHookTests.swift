import DownloadCore
@testable import DownloadStorage
import Foundation
import GRDB
import DownloadTestSupport
import Testing

/// When a hook is due, and which session runs it.
@Suite("Every store: hooks", .inTurn)
struct StoreContractHookTests {
    let folder = TemporaryFolder()

    private func add(
        _ name: String, to store: any DownloadStore, session: String = "s",
        hooks: Hooks? = Hooks(onComplete: "/c", onError: "/e")
    ) async throws -> DownloadRecord {
        var request = try Sample.request(name)
        request.hooks = hooks
        request.headers = [RequestHeader(name: "Authorization", value: "Bearer secret-1")]
        request.credential = Credential(user: "me", password: "secret-2")
        return try #require(try await store.add([request], session: session).first).record
    }

    private func end(
        _ record: DownloadRecord, _ state: DownloadState, in store: any DownloadStore, session: String = "s",
        wasCurrent: Bool = false
    ) async throws {
        var record = record
        record.state = state
        if state == .completed {
            record.session = nil
            record.completed = CompletedFile(
                path: "/home/me/a\nb", bytes: 3, identity: FileIdentity(inode: 1, born: nil), modified: 1,
                validators: Validators())
            record.completed?.wasCurrent = wasCurrent
        }
        _ = try await store.save([record], session: session)
    }

    @Test(
        "A hook is due once, when its download ends, and has the record of that moment", arguments: StoreKind.allCases)
    func once(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let record = try await add("a", to: store)
        #expect(try await store.takeHook(session: "s") == nil)
        try await end(record, .running, in: store)
        #expect(try await store.takeHook(session: "s") == nil)
        try await end(record, .completed, in: store)
        let hook = try #require(try await store.takeHook(session: "s"))
        #expect(hook.program == "/c" && hook.record.id == record.id && hook.record.state == .completed)
        #expect(hook.record.completed?.path == "/home/me/a\nb" && hook.timeLimit == Hooks.standardTimeLimit)
        #expect(try await store.takeHook(session: "s") == nil)
    }

    @Test(
        "Each end has a hook, whatever happens to the download before the hook is taken", arguments: StoreKind.allCases)
    func eachEnd(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let record = try await add("a", to: store)
        try await end(record, .failed(.cancelled), in: store)
        // Saving the same end again is not another end.
        try await end(record, .failed(.cancelled), in: store)
        let again = try #require(try await store.claim([record.id], session: "s").first).record
        try await end(again, .completed, in: store)
        _ = try await store.remove([record.id], session: "s")
        #expect(try await store.takeHook(session: "s")?.program == "/e")
        #expect(try await store.takeHook(session: "s")?.program == "/c")
        #expect(try await store.takeHook(session: "s") == nil)
    }

    @Test(
        "No hook is due after a pause or cancel, for a file that had not changed, for a refused save, or without a program",
        arguments: StoreKind.allCases)
    func none(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        try await end(try await add("a", to: store), .cancelled, in: store)
        try await end(try await add("b", to: store), .paused(.user), in: store)
        try await end(try await add("c", to: store), .completed, in: store, wasCurrent: true)
        try await end(try await add("d", to: store), .completed, in: store, session: "other")
        try await end(try await add("e", to: store, hooks: nil), .completed, in: store)
        try await end(try await add("f", to: store, hooks: Hooks(onError: "/e")), .completed, in: store)
        try await end(try await add("g", to: store, hooks: Hooks(onComplete: "/c")), .failed(.cancelled), in: store)
        #expect(try await store.takeHook(session: "s") == nil)
        #expect(try await store.takeHook(session: "other") == nil)
    }

    @Test(
        "A dead session's hooks go to any session; a live session's hooks stay with it", arguments: StoreKind.allCases)
    func sessions(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        try await end(try await add("a", to: store, session: "alive"), .completed, in: store, session: "alive")
        try await end(try await add("b", to: store, session: "dead"), .completed, in: store, session: "dead")
        #expect(try await store.takeHook(session: "s")?.record.request.url.path == "/files/b")
        #expect(try await store.takeHook(session: "s") == nil)
        #expect(try await store.takeHook(session: "alive")?.record.request.url.path == "/files/a")
    }

    @Test("Each hook goes to only one of many callers", arguments: StoreKind.allCases)
    func race(kind: StoreKind) async throws {
        let store = try kind.make(in: folder)
        let other = kind == .sqlite ? try kind.make(in: folder) : store
        for number in 0..<20 { try await end(try await add("\(number)", to: store), .completed, in: store) }
        let taken = try await withThrowingTaskGroup(of: [DownloadID].self) { group in
            for index in 0..<4 {
                group.addTask {
                    var ids: [DownloadID] = []
                    while let hook = try await (index < 2 ? store : other).takeHook(session: "s") {
                        ids.append(hook.record.id)
                    }
                    return ids
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.sorted() == Array(1...20))
    }

    @Test("No secret is stored with a hook")
    func secrets() async throws {
        let store = try folder.open()
        try await end(try await add("a", to: store), .completed, in: store)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))
            #expect(data.firstRange(of: Data("secret-".utf8)) == nil, "\(name)")
        }
        #expect(try await store.takeHook(session: "s")?.record.request.missingSecrets.count == 2)
    }

    @Test("A hook that cannot be read is skipped")
    func damaged() async throws {
        let store = try folder.open()
        try await end(try await add("a", to: store), .completed, in: store)
        try await end(try await add("b", to: store), .completed, in: store)
        try await store.execute("UPDATE hook SET record = 'x' WHERE id = 1")
        #expect(try await store.takeHook(session: "s")?.record.id == 2)
        #expect(try await store.takeHook(session: "s") == nil)
    }
}
