import DownloadStorage
import DownloadTestSupport
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Complete small files that the store could not save as completed. The store on disk still shows them as queued.
@Suite("SessionManager: small files whose end is not saved", .inTurn, .timeLimit(.minutes(1)))
struct UnsavedTests {
    /// A store in SQLite that refuses to save the ends of downloads a number of times.
    private final class RefusingStore: ForwardingStore {
        let inner: any DownloadStore
        private let refusals: Mutex<Int>
        let readGate = Mutex<StoreGate?>(nil)
        /// Whether another session owns the downloads of all small files.
        let hasLost = Atomic(false)
        /// Passed before the end of a download is saved.
        let saveGate = Mutex<StoreGate?>(nil)

        init(_ inner: any DownloadStore, refusals: Int) {
            self.inner = inner
            self.refusals = Mutex(refusals)
        }

        /// - Parameter refusals: The number of refusals; as many as there are saves, unless it is given.
        convenience init(refusals: Int = .max) throws {
            self.init(try SQLiteDownloadStore(folder: nil, isAlive: { _ in true }), refusals: refusals)
        }

        private func refuse() throws {
            let refuses = refusals.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
            if refuses { throw DownloadError.unexpected("full") }
        }

        func allow() { refusals.withLock { $0 = 0 } }

        func queued(
            session: String, after position: QueuePosition?, excluding prefixes: [String], limit: Int
        ) async throws -> [DownloadEntry] {
            let entries = try await inner.queued(
                session: session, after: position, excluding: prefixes, limit: limit)
            await readGate.withLock { $0 }?.pass()
            return entries
        }

        func save(_ records: [DownloadRecord], session: String, durably: Bool) async throws -> Set<DownloadID> {
            if records.contains(where: { $0.state.kind.isEnded }) {
                await saveGate.withLock { $0 }?.pass()
                try refuse()
            }
            return try await inner.save(records, session: session, durably: durably)
        }

        func save(
            _ files: SmallFiles, _ records: [DownloadRecord], session: String, durably: Bool
        ) async throws -> Set<DownloadID> {
            if hasLost.load(ordering: .relaxed) {
                return Set((files.completed.map(\.record) + records).map(\.id) + files.finishing.map(\.id))
            }
            if !files.completed.isEmpty {
                await saveGate.withLock { $0 }?.pass()
                try refuse()
            }
            return try await inner.save(files, records, session: session, durably: durably)
        }
    }

    private static let content = Content(seed: 51, size: 3000)
    private static let reply = FaultReply(content, etag: "\"v1\"")

    /// Returns a session without ticks.
    private func bench(_ store: RefusingStore) async throws -> SessionBench {
        try await SessionBench(store: store, time: ManualTime()) { _, _ in .reply(Self.reply) }
    }

    private func expectComplete(
        _ id: DownloadID, _ bench: SessionBench, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(try await bench.record(id).state == .completed, sourceLocation: location)
        #expect(try bench.holds("file.bin", Self.content), sourceLocation: location)
        #expect(bench.transport.requests.count == 1, sourceLocation: location)
        #expect(bench.words(id) == ["add", "start 0", "complete"], sourceLocation: location)
        #expect(await bench.manager.knownBook.places.isEmpty, sourceLocation: location)
    }

    @Test("The file is not fetched again when the queue is read")
    func read() async throws {
        let store = try RefusingStore()
        let bench = try await bench(store)
        let id = try await bench.add()
        #expect(await bench.ends.wait { $0[id] == 1 })
        #expect(try await bench.record(id).state == .queued)
        await bench.manager.readQueue()
        store.allow()
        try await bench.manager.saveUnsaved()
        try await expectComplete(id, bench)
    }

    @Test("The file is not fetched again if its end is saved while the queue is being read")
    func savedDuringRead() async throws {
        let (store, gate) = (try RefusingStore(), StoreGate())
        let bench = try await bench(store)
        let id = try await bench.add()
        #expect(await bench.ends.wait { $0[id] == 1 })
        store.readGate.withLock { $0 = gate }
        async let reading: Void = bench.manager.readQueue()
        #expect(await gate.isReached())
        store.allow()
        try await bench.manager.saveUnsaved()
        gate.open()
        await reading
        try await expectComplete(id, bench)
    }

    /// Gives a command that waits for the end of a file, whose save fails at first. Returns the command's answer.
    private func duringEnd<Answer: Sendable>(
        _ command: @escaping @Sendable (SessionManager, DownloadID) async throws -> Answer
    ) async throws -> (SessionBench, DownloadID, Answer) {
        let (store, gate) = (try RefusingStore(refusals: 1), StoreGate())
        store.saveGate.withLock { $0 = gate }
        let bench = try await bench(store)
        let id = try await bench.add()
        #expect(await gate.isReached())
        let manager = bench.manager
        let answer = Task { try await command(manager, id) }
        while await manager.knownBook[active: id]?.waiters.isEmpty != false { await Task.yield() }
        gate.open()
        return (bench, id, try await answer.value)
    }

    @Test("A change that waits for the end of the file leaves the download complete", arguments: [true, false])
    func changed(isPause: Bool) async throws {
        let (bench, id, changed) = try await duringEnd { try await $0.change([$1], isPause ? .pause : .cancel) }
        #expect(changed.map(\.didChange) == [false])
        try await expectComplete(id, bench)
    }

    @Test("A removal that waits for the end of the file deletes the file")
    func removed() async throws {
        let (bench, _, _) = try await duringEnd { try await $0.remove([$1], deletesFile: true) }
        #expect(bench.folder.names().isEmpty)
        #expect(try await bench.store.records(.all).isEmpty)
    }

    @Test("The old record of a download that is added again is not saved after the download has begun again")
    func addedAgain() async throws {
        let (store, gate) = (try RefusingStore(refusals: 1), StoreGate())
        let bench = try await SessionBench(store: store, time: ManualTime()) { _, request in
            .reply(request.number == 1 ? FaultReply(status: 404) : Self.reply)
        }
        let id = try await bench.add()
        #expect(await bench.ends.wait { $0[id] == 1 })
        store.saveGate.withLock { $0 = gate }
        async let saving: Void = bench.manager.saveUnsaved()
        #expect(await gate.isReached())
        store.saveGate.withLock { $0 = nil }
        let isAdded = Atomic(false)
        async let again = {
            defer { isAdded.store(true, ordering: .relaxed) }
            return try await bench.add()
        }()
        while await bench.manager.knownBook.waiters.changes.isEmpty, !isAdded.load(ordering: .relaxed) {
            await Task.yield()
        }
        gate.open()
        try await saving
        #expect(try await again == id)
        #expect(await bench.ends.wait { $0[id] == 2 })
        #expect(try await bench.record(id).state == .completed)
        #expect(try bench.holds("file.bin", Self.content))
        #expect(await bench.manager.knownBook.places.isEmpty)
    }

    @Test("If another session owns the download when its bytes have come, the file is not requested once more")
    func disowned() async throws {
        let store = try RefusingStore(refusals: 0)
        store.hasLost.store(true, ordering: .relaxed)
        let bench = try await bench(store)
        let id = try await bench.add()
        #expect(await bench.ends.wait { $0[id] == 1 })
        #expect(bench.words(id) == ["add", "start 0", "fail"])
        #expect(bench.transport.requests.count == 1)
        #expect(bench.folder.names().isEmpty)
        #expect(await bench.manager.knownBook.places.isEmpty)
    }

    @Test("If the store fails until the session ends, the next session finds the complete file")
    func nextSession() async throws {
        let folder = try TemporaryFolder()
        let first = try await bench(
            RefusingStore(SQLiteDownloadStore(folder: folder.path, isAlive: { _ in true }), refusals: .max))
        let id = try await first.add()
        #expect(await first.ends.wait { $0[id] == 1 })
        await first.manager.pauseAll(.interrupt)
        await first.manager.close()
        let next = try await SessionBench(
            after: first, store: SQLiteDownloadStore(folder: folder.path, isAlive: { !$0.contains("first") }),
            session: "next", serving: Self.reply)
        _ = try await next.manager.resume([id], overrides: RequestOverrides())
        #expect(try await next.ending(of: id).state == .completed)
        #expect(try next.holds("file.bin", Self.content))
        #expect(next.transport.requests.isEmpty)
    }
}

extension SessionManager {
    /// Reads the queue in the store from its start.
    fileprivate func readQueue() async {
        book.known.queue.leaveToStore()
        await fill()
    }
}
