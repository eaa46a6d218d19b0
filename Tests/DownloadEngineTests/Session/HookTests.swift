import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// Hook programs that end when a test says so.
private final class GatedHooks: HookRunner {
    struct State: Sendable {
        var begun: [DownloadID] = []
        var running = 0
        var peak = 0
        var cancelled = 0
        /// The downloads whose programs were asked to end.
        var ended: Set<DownloadID> = []
        var isOpen: Bool
    }

    let state: Observed<State>

    func newURL(for record: DownloadRecord, command: String, status: Int?) async -> Result<String, LinkFailure> {
        .failure(LinkFailure("no command"))
    }

    init(isOpen: Bool = true) { state = Observed(State(isOpen: isOpen)) }

    func run(_ hook: DueHook) async -> String? {
        state.update { state in
            state.begun.append(hook.record.id)
            state.running += 1
            state.peak = max(state.peak, state.running)
        }
        let number = hook.record.id
        _ = await withTaskCancellationHandler {
            await state.wait { $0.isOpen || $0.ended.contains(number) }
        } onCancel: {
            state.update { _ = $0.ended.insert(number) }
        }
        let isCancelled = Task.isCancelled
        state.update { state in
            state.running -= 1
            if isCancelled { state.cancelled += 1 }
        }
        return hook.program == "/broken" ? "/broken: ended with status 7" : nil
    }
}

@Suite("SessionManager: hooks", .inTurn, .timeLimit(.minutes(1)))
struct HookTests {
    private static let content = Content(seed: 5, size: 50_000)
    private static let reply = FaultReply(content, etag: "\"a\"")

    private func request(_ bench: SessionBench, _ path: String, _ program: String = "/x") throws -> DownloadRequest {
        try bench.request(path) { $0.hooks = Hooks(onComplete: program, onError: program) }
    }

    @Test("Each hook runs once, at most four at a time, and the end of the session waits for all hooks")
    func all() async throws {
        let hooks = GatedHooks(isOpen: false)
        let bench = try await SessionBench(hooks: hooks) { request, _ in
            request.url.path.hasSuffix("7") ? .reply(FaultReply(status: 404)) : .reply(Self.reply)
        }
        let ids = try await bench.manager.add((0..<20).map { try request(bench, "/\($0)") }).map(\.record.id)
        for id in ids { _ = try await bench.ending(of: id) }
        #expect(await hooks.state.wait { $0.running == 4 })
        let closing = Task { await bench.manager.close() }
        hooks.state.update { $0.isOpen = true }
        await closing.value
        #expect(hooks.state.value.begun.sorted() == ids && hooks.state.value.peak == 4)
        #expect(hooks.state.value.running == 0 && hooks.state.value.cancelled == 0)
    }

    @Test("A failure before a retry runs no hook; the final result does")
    func retries() async throws {
        let hooks = GatedHooks()
        let tries = Mutex(0)
        let bench = try await SessionBench(hooks: hooks) { _, _ in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            return .reply(number < 3 ? FaultReply(status: 503) : Self.reply)
        }
        let id = try #require(try await bench.manager.add([try request(bench, "/a")]).first).record.id
        #expect(try await bench.ending(of: id).state == .completed)
        await bench.manager.close()
        #expect(hooks.state.value.begun == [id])
    }

    @Test("The failure of a hook is reported, and changes nothing else")
    func failure() async throws {
        let notices = Observed<[String]>([])
        let hooks = GatedHooks()
        let bench = try await SessionBench(notice: { text in notices.update { $0.append(text) } }, hooks: hooks) {
            _, _ in
            .reply(Self.reply)
        }
        let id = try #require(try await bench.manager.add([try request(bench, "/a", "/broken")]).first).record.id
        #expect(try await bench.ending(of: id).state == .completed)
        await bench.manager.close()
        #expect(notices.value == ["\(id): /broken: ended with status 7"])
    }

    @Test("A signal ends the running hooks, and the next session runs the remaining hooks once")
    func signal() async throws {
        let hooks = GatedHooks(isOpen: false)
        let bench = try await SessionBench(session: "dead", hooks: hooks) { _, _ in .reply(Self.reply) }
        let ids = try await bench.manager.add((0..<6).map { try request(bench, "/\($0)") }).map(\.record.id)
        for id in ids { _ = try await bench.ending(of: id) }
        #expect(await hooks.state.wait { $0.running == 4 })
        await bench.manager.pauseAll(.terminate)
        await bench.manager.close()
        #expect(hooks.state.value.cancelled == 4 && hooks.state.value.begun.count == 4)

        let others = GatedHooks()
        let next = try await SessionBench(after: bench, session: "next", hooks: others) { _, _ in .reply(Self.reply) }
        _ = try await next.ending(of: try await next.add("/other"))
        #expect(await others.state.wait { $0.begun.count == 2 })
        await next.manager.close()
        #expect(Set(hooks.state.value.begun + others.state.value.begun) == Set(ids))
        #expect(others.state.value.begun.count == 2)
    }

    @Test("A background session runs the hooks that are left from its last run, if it has a runner")
    func background() async throws {
        let first = try await SessionBench(session: SessionIdentifier.background) { _, _ in .reply(Self.reply) }
        try await first.manager.start()
        let id = try #require(try await first.manager.add([try request(first, "/a")]).first).record.id
        #expect(try await first.ending(of: id).state == .completed)
        await first.manager.close()
        let hooks = GatedHooks()
        let second = try await SessionBench(after: first, session: SessionIdentifier.background, hooks: hooks) { _, _ in
            .reply(Self.reply)
        }
        try await second.manager.start()
        #expect(await hooks.state.wait { $0.begun == [id] })
        await second.manager.finish()
        await second.manager.close()
        #expect(hooks.state.value.begun == [id])
    }
}
