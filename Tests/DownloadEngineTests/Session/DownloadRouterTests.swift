import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

/// The sessions of one store in one process, which find each other without sockets.
private final class Neighbours: SessionDirectory {
    private struct State {
        var services: [String: any DownloadService] = [:]
        var failures: [String: SessionFailure] = [:]
        var calls: [String] = []
        var background: [any DownloadService] = []
    }

    private let state = Mutex(State())

    var calls: [String] { state.withLock(\.calls) }

    func open(_ manager: SessionManager) { state.withLock { $0.services[manager.identifier] = Far(manager) } }
    /// - Parameter failures: How the sessions fail that are found before.
    func offerBackground(_ manager: SessionManager, after failures: DownloadError...) {
        state.withLock { $0.background = failures.map { Far(manager, failure: $0) } + [Far(manager)] }
    }
    func forget(_ identifier: String) { state.withLock { $0.services[identifier] = nil } }
    /// Lets a session stop answering, although it is alive.
    func stop(_ identifier: String) { fail(identifier, .notAnswering(identifier, message: "")) }
    func fail(_ identifier: String, _ failure: SessionFailure) { state.withLock { $0.failures[identifier] = failure } }

    func isAlive(_ identifier: String) -> Bool { state.withLock { $0.services[identifier] != nil } }
    func liveSessions() -> [String] { state.withLock { $0.services.keys.sorted() } }

    func connect(to identifier: String) async throws -> any DownloadService {
        try state.withLock { state in
            state.calls.append("connect \(identifier)")
            guard let service = state.services[identifier] else {
                throw DownloadError.sessionUnavailable(.notRunning(identifier))
            }
            if let failure = state.failures[identifier] { throw DownloadError.sessionUnavailable(failure) }
            return service
        }
    }

    func startBackground() async throws -> any DownloadService {
        try state.withLock { state in
            state.calls.append("start")
            guard let service = state.background.first else {
                throw DownloadError.sessionUnavailable(.startFailed(message: "none"))
            }
            if state.background.count > 1 { state.background.removeFirst() }
            state.services[SessionIdentifier.background] = service
            return service
        }
    }

    func close() {}
}

/// A session as another process sees it. This type hides the `SessionManager`, because the router treats a
/// `SessionManager` as the session of its own process.
private struct Far: DownloadService {
    let manager: SessionManager
    /// The error of each resume.
    let failure: DownloadError?

    init(_ manager: SessionManager, failure: DownloadError? = nil) { (self.manager, self.failure) = (manager, failure) }

    func add(_ requests: RequestList) async throws -> [AddedDownload] { try await manager.add(requests) }
    func resume(_ ids: [DownloadID], overrides: RequestOverrides) async throws -> [ClaimedDownload] {
        if let failure { throw failure }
        return try await manager.resume(ids, overrides: overrides)
    }
    func change(_ ids: [DownloadID], _ change: DownloadChange) async throws -> [ChangedDownload] {
        try await manager.change(ids, change)
    }
    func remove(_ ids: [DownloadID], deletesFile: Bool) async throws {
        try await manager.remove(ids, deletesFile: deletesFile)
    }
    func snapshots(_ selection: DownloadSelection) async throws -> [DownloadSnapshot] {
        try await manager.snapshots(selection)
    }
    func progress() async -> [DownloadProgress] { await manager.progress() }
    func events() async -> DownloadEvents { await manager.events() }
    func log(since cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error> {
        try await manager.log(since: cursor)
    }
    func status() async throws -> SessionStatus { try await manager.status() }
    func configure(_ settings: SessionSettings) async throws { try await manager.configure(settings) }
    func shutdown(_ mode: ShutdownMode) async throws { try await manager.shutdown(mode) }
    func pauseAll(_ reason: DownloadState.PauseReason) async {}
    func close() async {}
}

@Suite("DownloadRouter", .inTurn, .timeLimit(.minutes(1)))
struct DownloadRouterTests {
    private static let content = Content(seed: 5, size: 600_000)
    private static let reply = FaultReply(content, etag: "\"a\"")

    /// Returns a script in which the first request of each session stalls after 400,000 bytes.
    private static func script() -> FakeTransport.Script {
        { _, asked in .reply(asked.number == 1 ? reply.with { $0.cut = .stall(after: 400_000) } : reply) }
    }

    /// A session that runs a download, another session with a router, and the directory that connects them.
    private struct Town {
        let directory = Neighbours()
        let owner: SessionBench
        let visitor: SessionBench
        let router: DownloadRouter

        init(owner name: String = "owner") async throws {
            let directory = directory
            let store = GatedStore(isAlive: { directory.isAlive($0) })
            owner = try await SessionBench(
                store: store, session: name, isAlive: { directory.isAlive($0) }, DownloadRouterTests.script())
            visitor = try await SessionBench(
                after: owner, session: "visitor", isAlive: { directory.isAlive($0) }
            ) { _, _ in .reply(reply) }
            router = DownloadRouter(local: visitor.manager, directory: directory)
            directory.open(owner.manager)
            directory.open(visitor.manager)
        }
    }

    @Test("A download of another session is paused, changed and resumed there")
    func elsewhere() async throws {
        let town = try await Town()
        let id = try await town.owner.add()
        #expect(await town.owner.transport.taken.wait { $0 == 400_000 })
        #expect(try await town.router.pause([id]).map(\.didChange) == [true])
        #expect(try await town.owner.record(id).state == .paused(.user))
        #expect(try await town.router.change([id], .priority(4)).map(\.didChange) == [true])
        let resumed = try await town.router.resume([id], overrides: RequestOverrides())
        try #require(resumed.first?.kind == .running)
        #expect(await town.owner.events.wait { $0.contains { $0.word == "complete" } })
        #expect(try town.owner.holds("file.bin", Self.content))
        #expect(town.visitor.transport.requests.isEmpty)
    }

    @Test("If a download of another session is cancelled here, it ends there, and its session announces the end")
    func cancelledElsewhere() async throws {
        let town = try await Town()
        let id = try await town.owner.add()
        #expect(await town.owner.transport.taken.wait { $0 == 400_000 })
        #expect(try await town.router.cancel([id]).map(\.didChange) == [true])
        #expect(try await town.owner.ending(of: id).state == .cancelled)
        #expect(town.owner.words(id) == ["add", "start 0", "cancel"])
        // The bytes stay for a resume.
        #expect(town.owner.folder.names() == ["file.bin.part"])
        #expect(await town.owner.manager.knownBook.activeIDs.isEmpty)
        #expect(town.visitor.words(id) == [])
    }

    @Test("If the session of a download has ended, the download is changed and resumed in the local session")
    func nobody() async throws {
        let town = try await Town()
        let id = try await town.owner.add()
        #expect(await town.owner.transport.taken.wait { $0 == 400_000 })
        await town.owner.manager.pauseAll(.terminate)
        town.directory.forget(town.owner.manager.identifier)
        #expect(try await town.router.pause([id]).map(\.didChange) == [true])
        #expect(try await town.router.cancel([id]).first?.snapshot.record.state == .cancelled)
        let resumed = try await town.router.resume([id], overrides: RequestOverrides())
        try #require(resumed.first?.kind == .claimed)
        #expect(try await town.visitor.ending(of: id, times: 3).state == .completed)
        #expect(town.visitor.ranges == [rest(from: 400_000)])
        #expect(try town.visitor.holds("file.bin", Self.content))
    }

    @Test("A download of the background session is resumed there, and the session is started if necessary")
    func background() async throws {
        let town = try await Town(owner: SessionIdentifier.background)
        let id = try await town.owner.add()
        #expect(await town.owner.transport.taken.wait { $0 == 400_000 })
        await town.owner.manager.pauseAll(.terminate)
        town.directory.forget(SessionIdentifier.background)
        let next = try await SessionBench(after: town.owner, session: SessionIdentifier.background) { _, _ in
            .reply(Self.reply)
        }
        town.directory.offerBackground(next.manager)
        let resumed = try await town.router.resume([id], overrides: RequestOverrides())
        try #require(resumed.first?.kind == .running)
        #expect(try await next.ending(of: id).state == .completed)
        #expect(next.ranges == [rest(from: 400_000)])
        #expect(town.visitor.transport.requests.isEmpty)
    }

    @Test("The background session itself changes and resumes its downloads without a connection")
    func own() async throws {
        let town = try await Town(owner: SessionIdentifier.background)
        let router = DownloadRouter(local: town.owner.manager, directory: town.directory)
        let id = try await town.owner.add()
        #expect(await town.owner.transport.taken.wait { $0 == 400_000 })
        #expect(try await router.pause([id]).map(\.didChange) == [true])
        let url = try await town.owner.record(id).request.url
        _ = try await router.change([id], .url(url, Credential(user: "ann", password: "b")))
        let resumed = try await router.resume([id], overrides: RequestOverrides())
        try #require(resumed.first?.kind == .claimed)
        #expect(try await town.owner.ending(of: id, times: 2).state == .completed)
        #expect(town.directory.calls.isEmpty)
    }

    @Test("A download without a session goes to the background session if the resume asks for that")
    func wanted() async throws {
        let town = try await Town()
        let id = try await town.visitor.add()
        #expect(try await town.visitor.ending(of: id).state == .completed)
        let other = try await town.owner.add("/other")
        #expect(await town.owner.transport.taken.wait { $0 == 400_000 })
        _ = try await town.owner.manager.cancel([other])
        let background = try await SessionBench(after: town.owner, session: SessionIdentifier.background) { _, _ in
            .reply(Self.reply)
        }
        town.directory.offerBackground(background.manager)
        var overrides = RequestOverrides()
        overrides.inBackground = true
        let answers = try await town.router.resume([other, id], overrides: overrides)
        #expect(answers.map(\.record.id) == [other, id])
        #expect(answers[1].kind == .completed)
        #expect(try await background.ending(of: other).state == .completed)
    }

    @Test("The handover skips removed downloads, and finds the next background session if one is just ending")
    func handover() async throws {
        let town = try await Town()
        let mover = try await SessionBench(after: town.owner, session: "mover") { _, _ in
            .reply(Self.reply.with { $0.cut = .stall(after: 400_000) })
        }
        town.directory.open(mover.manager)
        var ids: [DownloadID] = []
        for path in ["/a", "/removed", "/gone"] { ids.append(try await mover.add(path)) }
        #expect(await mover.transport.taken.wait { $0 == 1_200_000 })
        let router = DownloadRouter(local: mover.manager, directory: town.directory)
        let background = try await SessionBench(after: town.owner, session: SessionIdentifier.background) { _, _ in
            .reply(Self.reply)
        }
        // The last download is removed after the handover has found it.
        town.directory.offerBackground(
            background.manager, after: .sessionUnavailable(.shuttingDown), .noSuchDownload(ids[2]))
        try await router.remove([ids[1]], deletesFile: false)
        #expect(try await router.moveToBackground(ids) { $0 }.map(\.id) == [ids[0]])
        #expect(town.directory.calls == ["start", "start", "start"])
        #expect(try await background.ending(of: ids[0]).state == .completed)
        #expect(background.ranges == [rest(from: 400_000)])
    }

    @Test("The connections of a running download are those that its session names, if it answers")
    func connections() async throws {
        let town = try await Town()
        let id = try await town.owner.add()
        #expect(await town.owner.transport.taken.wait { $0 == 400_000 })
        let detailed = DownloadSelection.ids([id], isDetailed: true)
        let connections = try await town.router.snapshots(detailed).first?.activeConnections
        #expect(connections?.map(\.origin) == ["http://example.org:80"])
        #expect(connections?.map(\.position) == [400_000])
        #expect(try await town.owner.manager.snapshots(detailed).first?.activeConnections?.count == 1)
        #expect(try await town.router.snapshot(id).activeConnections == nil)
        town.directory.stop(town.owner.manager.identifier)
        #expect(try await town.router.snapshots(detailed).map(\.activeConnections) == [nil])
        _ = try await town.owner.manager.pause([id])
        #expect(try await town.owner.manager.snapshots(detailed).map(\.activeConnections) == [nil])
    }

    @Test("If the owner of a download does not answer, this is an error, and the owner keeps the download")
    func silent() async throws {
        let town = try await Town()
        let id = try await town.owner.add()
        #expect(await town.owner.transport.taken.wait { $0 == 400_000 })
        town.directory.stop(town.owner.manager.identifier)
        let failure = DownloadError.sessionUnavailable(
            .notAnswering(town.owner.manager.identifier, message: ""))
        await #expect(throws: failure) { try await town.router.pause([id]) }
        await #expect(throws: failure) { try await town.router.remove([id], deletesFile: false) }
        await #expect(throws: failure) { try await town.router.resume([id], overrides: RequestOverrides()) }
        #expect(try await town.owner.record(id).session == town.owner.manager.identifier)
        await town.owner.manager.close()
    }

    @Test("If a download that another session runs is removed here, it stops there")
    func remove() async throws {
        let town = try await Town()
        let id = try await town.owner.add()
        #expect(await town.owner.transport.taken.wait { $0 == 400_000 })
        try await town.router.remove([id], deletesFile: false)
        #expect(town.owner.folder.names() == [])
        #expect(await town.owner.events.wait { $0.last?.word == "remove" })
        await #expect(throws: DownloadError.noSuchDownload(id)) { try await town.router.pause([id]) }
    }

    @Test("A rate limit for all sessions reaches every live session")
    func configure() async throws {
        let town = try await Town()
        let before = try await town.owner.manager.status().settings.rateLimit
        try await town.router.configure(SessionSettings(rateLimit: 5))
        #expect(before == nil)
        #expect(try await town.owner.manager.status().settings.rateLimit == 5)
        #expect(try await town.visitor.manager.status().settings.rateLimit == 5)
    }
    @Test("A session that is ending is left out, and needs no rate limit")
    func ending() async throws {
        let town = try await Town()
        let owner = town.owner.manager.identifier
        town.directory.fail(owner, .shuttingDown)
        try await town.router.configure(SessionSettings(rateLimit: 5))
        #expect(try await town.visitor.manager.status().settings.rateLimit == 5)
        #expect(await !town.router.sessions().map(\.identifier).contains(owner))
    }
}
