import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Random commands to sessions that share one SQLite store and one folder, and die between any two calls of the store.
@Suite("Fuzzing: sessions, one store, and crashes", .inTurn)
struct SessionModelFuzzTests {
    /// The sessions that live, and the commands that have no answer yet.
    private struct Run {
        let world: ModelWorld
        let pending = Observed(0)
        var living: [ModelWorld.Session] = []
        var fault: String?

        init(_ world: ModelWorld) { self.world = world }

        /// Gives a command without waiting for its answer.
        func give(
            _ what: String, to session: ModelWorld.Session,
            _ command: @escaping @Sendable (SessionBench) async throws -> Void
        ) {
            pending.update { $0 += 1 }
            world.ledger.record("\(session.name): \(what)")
            Task { [pending, world] in
                do { try await command(session.bench) } catch let error as DownloadError {
                    if error.kind == "unexpected" { world.ledger.note("\(what): \(error)") }
                } catch { world.ledger.note("\(what): \(error)") }
                world.ledger.record("\(session.name): end of \(what)")
                pending.update { $0 -= 1 }
                world.changes.update { $0 += 1 }
            }
        }

        mutating func end(_ session: ModelWorld.Session, dies: Bool) async {
            let fault = dies ? await world.bury(session) : await world.close(session)
            self.fault = self.fault ?? fault
            living.removeAll { $0.name == session.name }
        }
    }

    private static func command(_ run: Run, _ session: ModelWorld.Session, _ random: inout SplitMix64) {
        let id = DownloadID(Int64.random(in: 1...10, using: &random))
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<4:
            let count = [1, 1, 3, 8].randomElement(using: &random) ?? 1
            let files = ModelWorld.files.shuffled(using: &random).prefix(count)
            let priority = [0, 0, 0, 1].randomElement(using: &random) ?? 0
            let delay: Double = Bool.random(using: &random) ? 3600 : 0.001
            let isPaused = Int.random(in: 0..<12, using: &random) == 0
            run.give("add \(files.map(\.path))", to: session) { bench in
                let requests = try files.map { file in
                    try bench.request(host: file.host, file.path) { request in
                        request.connections = file.connections
                        request.retry = RetryPolicy(limit: 3, delay: .seconds(delay), maximumDelay: .seconds(2 * delay))
                        request.priority = priority
                        request.startsPaused = isPaused
                    }
                }
                _ = try await bench.manager.add(requests)
            }
        case 4: run.give("pause \(id)", to: session) { _ = try await $0.manager.change([id], .pause) }
        case 5, 6:
            run.give("resume \(id)", to: session) {
                _ = try await $0.manager.resume([id], overrides: RequestOverrides())
            }
        case 7, 8: run.give("cancel \(id)", to: session) { _ = try await $0.manager.change([id], .cancel) }
        case 9: run.give("remove \(id)", to: session) { try await $0.manager.remove([id], deletesFile: true) }
        case 10:
            let priority = Int.random(in: -1...1, using: &random)
            run.give("priority \(id)", to: session) { _ = try await $0.manager.change([id], .priority(priority)) }
        default: run.give("limit \(id)", to: session) { _ = try await $0.manager.change([id], .rateLimit(1 << 30)) }
        }
    }

    private static func event(_ run: inout Run, _ number: Int, _ random: inout SplitMix64) async throws {
        let session = run.living.randomElement(using: &random) ?? run.living[0]
        command(run, session, &random)
        let world = run.world
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1:
            session.store.die(
                after: Int.random(in: 1...8, using: &random), lastCallWorks: Bool.random(using: &random))
        case 2 where run.living.count < 3, 3 where run.living.count < 3:
            run.living.append(try await world.start("\(number)"))
        case 4: await run.end(session, dies: true)
        case 5: await run.end(session, dies: false)
        case 6: world.time.advance(by: .seconds(Int.random(in: 1...100, using: &random)))
        case 7: world.time.put(world.time.date.addingTimeInterval(.random(in: -9999...9999, using: &random)))
        case 8: session.store.fail(Int.random(in: 1...4, using: &random))
        case 9: world.replace((ModelWorld.files.randomElement(using: &random) ?? ModelWorld.files[0]).path)
        case 10..<14:
            let seen = world.changes.value
            _ = await world.changes.wait(atMost: .milliseconds(5)) { $0 > seen + 2 }
        case 14, 15: _ = await run.pending.wait(atMost: .milliseconds(50)) { $0 == 0 }
        default: break
        }
        for session in run.living where session.store.isDead { await run.end(session, dies: true) }
        if run.living.isEmpty { run.living.append(try await world.start("\(number)")) }
    }

    /// Returns what is wrong after random commands, or nil.
    private static func fault(_ seed: UInt64) async throws -> String? {
        let world = try await ModelWorld(seed)
        return try await fault(in: world).map { $0 + world.ledger.history }
    }

    private static func fault(in world: ModelWorld) async throws -> String? {
        var random = SplitMix64(seed: world.seed)
        var run = Run(world)
        run.living = [try await world.start("0")]
        for number in 1...25 where run.fault == nil && world.ledger.fault == nil {
            try await event(&run, number, &random)
        }
        world.makeRight()
        let pending = run.pending
        run.fault = await run.fault.or { await world.passes(for: "the answers to commands") { pending.value == 0 } }
        for session in run.living {
            run.fault = await run.fault.or { await world.settle(session) }
            await run.end(session, dies: Bool.random(using: &random))
        }
        if let fault = run.fault ?? world.ledger.fault { return fault }
        let last = try await world.start("last")
        let fault = try await world.finish(last)
        return await fault.or { await world.close(last) } ?? world.ledger.fault
    }

    /// The number of runs without `make fuzz`.
    private static let runs: UInt64 = 24

    @Test("After any commands and crashes, each download can be resumed, and ends with the right file")
    func sessions() async throws {
        let given = ProcessInfo.processInfo.environment["DLM_TEST_SEED"].flatMap { UInt64($0) }
        let first = given ?? (Fuzzing.seconds == nil ? 1 : UInt64.random(in: 1...1_000_000_000))
        let begin = ContinuousClock.now
        let next = Atomic(first)
        let isDue: @Sendable () -> UInt64? = {
            let seed = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard let seconds = Fuzzing.seconds else { return seed < first + Self.runs ? seed : nil }
            return ContinuousClock.now - begin < .seconds(seconds) ? seed : nil
        }
        // Most of the time, a session waits for its clock or its store.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    while let seed = isDue() {
                        if let fault = try await Self.fault(seed) {
                            Issue.record("seed \(seed): \(fault)")
                        }
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

extension String? {
    /// Returns this fault, or else the one that the check finds.
    fileprivate func or(_ check: () async -> String?) async -> String? {
        if let self { return self }
        return await check()
    }
}

// MARK: The end of a run

extension ModelWorld {
    /// Lets a session run all its downloads to their ends. Returns what is wrong then, or nil.
    fileprivate func settle(_ session: Session) async -> String? {
        if session.store.isDoomed { return nil }
        session.store.recover()
        let manager = session.bench.manager
        let last = Observed("")
        let fault = await passes(for: "the downloads of \(session.name)", step: .seconds(600)) {
            if let left = await manager.leftovers {
                last.update { $0 = left }
                return false
            }
            let records = try? await self.base.store.records(.all)
            let left = records?.first { $0.session == session.name && $0.state.kind.isActive }
            last.update { $0 = left.map { "\($0.id) is \($0.state)" } ?? "" }
            return left == nil && records != nil
        }
        return fault.map { "\($0): \(last.value)" }
    }

    /// Resumes everything in a session whose server answers rightly. Returns what is not as it should be then, or nil.
    fileprivate func finish(_ last: Session) async throws -> String? {
        last.store.makePunctual()
        try await last.store.releaseDeadSessions()
        let left = try await last.store.records(.all)
        for record in left {
            if record.state.kind.isActive { return "\(record.id) belongs to nobody" }
            if let fault = record.state == .completed ? faultOfFile(record) : faultOfBytes(record) { return fault }
        }
        _ = try await last.bench.manager.resume(left.map(\.id), overrides: RequestOverrides())
        if let fault = await settle(last) { return fault }
        let ended = try await last.store.records(.all)
        for (before, record) in zip(left, ended) {
            switch record.state {
            case .completed:
                if let fault = faultOfFile(record) { return fault }
            // The download has an older version of the file, which is not overwritten without an option.
            case .failed(.fileFailed(.exists, _))
            where hasReplaced(record.request.url.path) && record.completed != nil:
                continue
            default: return "\(record.id) \(before.state): \(record.state)"
            }
        }
        let names = Set(
            ended.flatMap { record in
                [record.fileName, record.completed.map { FileNaming.lastComponent($0.path) }].compactMap(\.self)
            })
        let others = Set(base.folder.names()).subtracting(names)
        return others.isEmpty ? nil : "files without downloads: \(others.sorted())"
    }
}

extension SessionManager {
    /// The first thing that a session without active downloads still has, but should not have; nil if there is none.
    fileprivate var leftovers: String? {
        let (waiting, book) = (book.waiting, book.entered)
        if let id = book.activeIDs.min() { return "\(id) is active" }
        if book.unsavedCount > 0 { return "unsaved records" }
        if let slot = book.scheduler.running.keys.min() { return "slot \(slot) is in use" }
        if !waiting.isEmpty { return "\(waiting.count) callers wait" }
        return nil
    }
}
