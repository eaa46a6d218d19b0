import DownloadStorage
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Random commands to sessions that share one SQLite store and one folder, and die between any two calls of the store.
@Suite("Fuzzing: sessions, one store, and crashes", .inTurn)
struct SessionModelFuzzTests {
    private static let contents = Dictionary(
        uniqueKeysWithValues: [800, 9000, 60_000, 70_000, 200_000, 450_000].enumerated().map { index, size in
            ("/f\(index).bin", Content(seed: 700 + UInt64(index), size: size))
        })

    /// A store on disk that stops working after some calls, as if the process of its session had died.
    private final class MortalStore: ForwardingStore {
        let inner: any DownloadStore
        /// The number of calls that still work.
        private let left = Mutex(Int.max)

        init(_ inner: any DownloadStore) { self.inner = inner }

        func die(after calls: Int) { left.withLock { $0 = min($0, calls) } }

        private func live() throws {
            let lives = left.withLock { left in
                if left > 0, left < .max { left -= 1 }
                return left > 0
            }
            if !lives { throw DownloadError.sessionUnavailable(.shuttingDown) }
        }

        func add(_ requests: RequestList, session: String) async throws -> [AddedDownload] {
            try live()
            return try await inner.add(requests, session: session)
        }

        func claim(_ ids: [DownloadID], session: String, includingCompleted: Bool) async throws -> [ClaimedDownload] {
            try live()
            return try await inner.claim(ids, session: session, includingCompleted: includingCompleted)
        }

        func save(_ records: [DownloadRecord], session: String, durably: Bool) async throws -> Set<DownloadID> {
            try live()
            return try await inner.save(records, session: session, durably: durably)
        }

        func save(
            _ files: SmallFiles, _ records: [DownloadRecord], session: String, durably: Bool
        ) async throws -> Set<DownloadID> {
            try live()
            return try await inner.save(files, records, session: session, durably: durably)
        }

        func change(_ ids: [DownloadID], _ change: DownloadChange, session: String) async throws -> [ChangedRecord] {
            try live()
            return try await inner.change(ids, change, session: session)
        }

        func remove(
            _ ids: [DownloadID], session: String, deleting: @escaping @Sendable (DownloadRecord) -> Void
        ) async throws -> [DownloadRecord] {
            try live()
            return try await inner.remove(ids, session: session, deleting: deleting)
        }

        func pauseQueued(session: String, reason: DownloadState.PauseReason) async throws {
            try live()
            try await inner.pauseQueued(session: session, reason: reason)
        }
    }

    private struct Session {
        let bench: SessionBench
        let store: MortalStore
        let name: String
    }

    /// One run: its folder, its sessions, and the answers of its server.
    private final class World: Sendable {
        let state: TemporaryFolder
        let base: SessionBench
        let time = ManualTime(leaps: true)
        let dead = Mutex<Set<String>>([])
        /// The random numbers of the server; nil once it answers everything rightly.
        let luck: Mutex<SplitMix64?>

        init(_ seed: UInt64) async throws {
            state = try TemporaryFolder()
            luck = Mutex(SplitMix64(seed: seed &+ 1_000_003))
            base = try await SessionBench { _, _ in .failure(.cancelled) }
        }

        deinit { state.remove() }

        private func answer(to request: FaultRequest) -> FakeTransport.Exchange {
            guard let content = SessionModelFuzzTests.contents[request.target] else {
                return .reply(FaultReply(status: 404))
            }
            let reply = FaultReply(content, etag: "\"\(content.size)\"")
            let draw = luck.withLock { luck -> (kind: Int, place: Int64)? in
                guard luck != nil else { return nil }
                let kind = Int.random(in: 0..<10, using: &luck!)
                return (kind, Int64.random(in: 0..<content.size, using: &luck!))
            }
            switch draw?.kind {
            case 0: return .reply(reply.with { $0.cut = .close(after: draw?.place ?? 0) })
            case 1: return .reply(reply.with { $0.cut = .stall(after: draw?.place ?? 0) })
            case 2: return .reply(FaultReply(status: 503, fields: [("Retry-After", "1")]))
            case 3: return .reply(reply.with { $0.ranges = .ignored })
            default: return .reply(reply)
            }
        }

        func start(_ name: String) async throws -> Session {
            let isAlive: @Sendable (String) -> Bool = { [weak self] session in
                self?.dead.withLock { !$0.contains(session) } ?? false
            }
            let store = MortalStore(try SQLiteDownloadStore(folder: state("state"), isAlive: isAlive, time: time))
            let bench = try await SessionBench(
                after: base, store: store, session: name, maxConcurrent: 3, isAlive: isAlive, time: time
            ) { [weak self] _, asked in self?.answer(to: asked) ?? .failure(.cancelled) }
            return Session(bench: bench, store: store, name: SessionBench.identifier(name))
        }

        /// Ends a session whose store has died.
        func bury(_ session: Session) async {
            session.store.die(after: 0)
            await session.bench.manager.close()
            await session.store.close()
            dead.withLock { _ = $0.insert(session.name) }
        }
    }

    private static func command(_ session: Session, _ random: inout SplitMix64) async throws {
        let manager = session.bench.manager
        let id = DownloadID(Int64.random(in: 1...8, using: &random))
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            let path = contents.keys.sorted().randomElement(using: &random) ?? "/f0.bin"
            let connections = [1, 1, 3].randomElement(using: &random) ?? 1
            try await session.bench.add(path) { $0.connections = .fixed(connections) }
        case 4: _ = try await manager.pause([id])
        case 5, 6: _ = try await manager.resume([id], overrides: RequestOverrides())
        case 7: _ = try await manager.cancel([id])
        case 8: try await manager.remove([id], deletesFile: true)
        default: _ = try await manager.change([id], .priority(.random(in: -1...1, using: &random)))
        }
    }

    /// Returns what is wrong after random commands, or nil.
    private static func fault(_ seed: UInt64) async throws -> String? {
        var random = SplitMix64(seed: seed)
        let world = try await World(seed)
        var living = [try await world.start("0")]
        for number in 1...25 {
            let session = living.randomElement(using: &random) ?? living[0]
            do { try await command(session, &random) } catch let error as DownloadError {
                if error.kind == "unexpected" { return "command \(number): \(error)" }
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: session.store.die(after: Int.random(in: 1...6, using: &random))
            case 1 where living.count < 3: living.append(try await world.start("\(number)"))
            case 2:
                await world.bury(session)
                living.removeAll { $0.name == session.name }
                if living.isEmpty { living.append(try await world.start("\(number)")) }
            case 3: world.time.advance(by: .seconds(Int.random(in: 1...100, using: &random)))
            case 4: world.time.put(world.time.date.addingTimeInterval(.random(in: -9999...9999, using: &random)))
            case 5: await Task.yield()
            default: break
            }
        }
        for session in living { await world.bury(session) }
        world.luck.withLock { $0 = nil }
        let last = try await world.start("last")
        let fault = try await end(last)
        await last.bench.manager.close()
        await last.store.close()
        return fault
    }

    /// Resumes everything in a session whose server answers rightly. Returns what is not as it should be then, or nil.
    private static func end(_ last: Session) async throws -> String? {
        let store = last.store
        try await store.releaseDeadSessions()
        let left = try await store.records(.all)
        for record in left {
            if record.state == .running || record.state == .queued { return "\(record.id) belongs to nobody" }
            if record.state == .completed, let fault = fault(of: record, last) { return fault }
        }
        _ = try await last.bench.manager.resume(left.map(\.id), overrides: RequestOverrides())
        for record in left {
            while true {
                let ends = last.bench.ends.value[record.id, default: 0]
                let now = try await last.bench.record(record.id)
                if now.state == .completed {
                    if let fault = Self.fault(of: now, last) { return fault }
                    break
                }
                if case .failed(let error) = now.state { return "\(record.id) \(record.state): \(error)" }
                guard await last.bench.ends.wait(atMost: .seconds(30), until: { $0[record.id, default: 0] > ends })
                else { return "\(record.id) does not end: \(now.state), before \(record.state)" }
            }
        }
        return nil
    }

    /// Returns what is wrong with the file of a completed download, or nil.
    private static func fault(of record: DownloadRecord, _ session: Session) -> String? {
        guard let path = URL(string: record.request.url.string)?.path, let content = contents[path],
            let name = record.fileName
        else { return "\(record.id) has no name" }
        guard let digest = try? sha256(of: session.bench.folder(name)) else {
            return "\(record.id) is completed without \(name)"
        }
        return digest == content.sha256 ? nil : "\(record.id): \(name) is wrong"
    }

    @Test("After any commands and crashes, each download can be resumed, and ends with the right file")
    func sessions() async throws {
        let given = ProcessInfo.processInfo.environment["DLM_TEST_SEED"].flatMap { UInt64($0) }
        let first = given ?? (Fuzzing.seconds == nil ? 1 : UInt64.random(in: 1...1_000_000_000))
        let begin = ContinuousClock.now
        let next = Atomic(first)
        let isDue: @Sendable () -> UInt64? = {
            let seed = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard let seconds = Fuzzing.seconds else { return seed < first + 40 ? seed : nil }
            return ContinuousClock.now - begin < .seconds(seconds) ? seed : nil
        }
        // Most of the time, a session waits for its clock or its store.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    while let seed = isDue() {
                        if let fault = try await Self.fault(seed) { Issue.record("seed \(seed): \(fault)") }
                    }
                }
            }
            try await group.waitForAll()
        }
        if Fuzzing.seconds != nil {
            print("Sessions, one store, and crashes: \(next.load(ordering: .relaxed) - first) seeds")
        }
    }
}
