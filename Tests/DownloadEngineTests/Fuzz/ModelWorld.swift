import DownloadStorage
import DownloadSystem
import DownloadTestSupport
import Foundation
import Synchronization

@testable import DownloadCore
@testable import DownloadEngine

/// One run of ``SessionModelFuzzTests``: a folder, a store on disk, the sessions that share them, a server, and a clock.
final class ModelWorld: Sendable {
    struct Session: Sendable {
        let bench: SessionBench
        let store: MortalStore
        let name: String
    }

    /// A file of the server. Each version has its own content.
    struct File: Sendable {
        let path: String
        let host: String
        let connections: DownloadRequest.Connections
        let versions: [Content]
        /// The bytes of the versions.
        let bytes: [[UInt8]]

        init(_ number: Int, size: Int64, connections: DownloadRequest.Connections) {
            path = "/f\(number).bin"
            host = number % 3 == 2 ? "example.net" : "example.org"
            self.connections = connections
            versions = (0..<3).map { Content(seed: 700 + UInt64(number * 10 + $0), size: size + Int64($0)) }
            bytes = versions.map { $0.bytes(0..<$0.size) }
        }
    }

    static let files = [
        File(0, size: 800, connections: 1), File(1, size: 9000, connections: 1), File(2, size: 60_000, connections: 1),
        File(3, size: 70_000, connections: 3), File(4, size: 1200, connections: 1),
        File(5, size: 300_000, connections: 1), File(6, size: 450_000, connections: 3),
        File(7, size: 2500, connections: 1),
    ]
    static let byPath = Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0) })

    /// An empty store, which is copied, because making the tables takes a tenth of a run.
    private static let emptyStore = Result {
        let folder = try TemporaryFolder()
        _ = try SQLiteDownloadStore(folder: folder.path, isAlive: { _ in true })
        return try Data(contentsOf: URL(fileURLWithPath: folder("downloads.sqlite")))
    }

    private struct Server {
        var random: SplitMix64
        /// Whether the server answers everything rightly and at once.
        var isRight = false
        var versions: [String: Int] = [:]
    }

    let seed: UInt64
    let state: TemporaryFolder
    let base: SessionBench
    let time = ManualTime(leaps: true)
    let ledger = ModelLedger()
    /// The number of things that have happened.
    let changes = Observed(0)
    private let dead = Mutex<Set<String>>([])
    private let server: Mutex<Server>

    init(_ seed: UInt64) async throws {
        self.seed = seed
        state = try TemporaryFolder()
        server = Mutex(Server(random: SplitMix64(seed: seed &+ 1_000_003)))
        try Self.emptyStore.get().write(to: URL(fileURLWithPath: state("downloads.sqlite")))
        let reader = try SQLiteDownloadStore(folder: state.path, isAlive: { _ in true }, time: time)
        base = try await SessionBench(store: reader) { _, _ in .failure(.cancelled) }
    }

    // MARK: Sessions

    func start(_ name: String) async throws -> Session {
        let isAlive: @Sendable (String) -> Bool = { [weak self] session in
            self?.dead.withLock { !$0.contains(session) } ?? false
        }
        let disk = try SQLiteDownloadStore(folder: state.path, isAlive: isAlive, time: time)
        let number = name.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) }
        let session = SessionBench.identifier(name)
        let store = MortalStore(disk, of: session, self, seed: number)
        let laws = FakeTransport.Laws(time: time, patience: .seconds(30)) { [weak self] asked in
            self?.delays(asked) ?? (.zero, .zero)
        }
        let bench = try await SessionBench(
            after: base, store: store, session: name, maxConcurrent: 3, maxPerHost: 2, isAlive: isAlive, time: time,
            laws: laws, mostQueued: 2
        ) { [weak self] _, asked in self?.answer(asked, to: session) ?? .failure(.cancelled) }
        return Session(bench: bench, store: store, name: session)
    }

    /// Ends a session whose process dies now. Returns what is wrong then, or nil.
    func bury(_ session: Session) async -> String? {
        ledger.record("\(session.name) is killed")
        session.store.die(after: 0)
        return await close(session)
    }

    /// Closes a session. Returns what is wrong, or nil.
    func close(_ session: Session) async -> String? {
        ledger.record("\(session.name) ends")
        let isClosed = Observed(false)
        Task {
            await session.bench.manager.close()
            isClosed.update { $0 = true }
            changes.update { $0 += 1 }
        }
        let fault = await passes(for: "\(session.name) to close") { isClosed.value }
        dead.withLock { _ = $0.insert(session.name) }
        return fault
    }

    /// Waits for a condition, on the clock of the world. Returns what was waited for in vain, or nil.
    /// - Parameter step: The time that passes on the clock when nothing has happened for a while. The wait takes 60 steps
    ///   at most.
    func passes(
        for what: String, step: Duration = .seconds(20), _ isMet: @Sendable () async -> Bool
    ) async -> String? {
        for round in 1...480 {
            let seen = changes.value
            if await isMet() { return nil }
            let isNews = await changes.wait(atMost: .milliseconds(min(round, 25))) { $0 != seen }
            if !isNews, round % 8 == 0 { time.advance(by: step) }
        }
        return "waits in vain for \(what)"
    }

    // MARK: The server

    func makeRight() { server.withLock { $0.isRight = true } }

    /// Puts another version of a file on the server.
    func replace(_ path: String) {
        server.withLock { server in
            let last = (Self.byPath[path]?.versions.count ?? 1) - 1
            server.versions[path] = min(last, server.versions[path, default: 0] + 1)
        }
    }

    /// Whether the server had another version of the file before.
    func hasReplaced(_ path: String) -> Bool { server.withLock { $0.versions[path] != nil } }

    private func delays(_ asked: FaultRequest) -> (head: Duration, piece: Duration) {
        server.withLock { server in
            if server.isRight { return (.zero, .zero) }
            let head = [0, 0, 0, 30, 700, 3000].randomElement(using: &server.random) ?? 0
            let piece = [0, 0, 0, 0, 0, 200].randomElement(using: &server.random) ?? 0
            return (.milliseconds(head), .milliseconds(piece))
        }
    }

    private func answer(_ asked: FaultRequest, to session: String) -> FakeTransport.Exchange {
        if let fault = ledger.fault(ofRequest: asked.target, by: session) { ledger.note(fault) }
        ledger.record("\(session) requests \(asked.target) \(asked["Range"] ?? "")")
        guard let file = Self.byPath[asked.target] else { return .reply(FaultReply(status: 404)) }
        return server.withLock { server in
            let version = server.versions[file.path, default: 0]
            let content = file.versions[version]
            let reply = FaultReply(content, etag: "\"\(version)\"")
            if server.isRight { return .reply(reply) }
            let place = Int64.random(in: 0..<content.size, using: &server.random)
            switch Int.random(in: 0..<10, using: &server.random) {
            case 0: return .reply(reply.with { $0.cut = .close(after: place) })
            case 1: return .reply(reply.with { $0.cut = .stall(after: place) })
            case 2: return .reply(FaultReply(status: 503, fields: [("Retry-After", "1")]))
            case 3: return .reply(reply.with { $0.ranges = .ignored })
            default: return .reply(reply)
            }
        }
    }

    // MARK: Files

    /// Returns what is wrong with the bytes that a record of an unfinished download believes, or nil. A file that has
    /// got its final name meanwhile is not looked at.
    func faultOfBytes(_ record: DownloadRecord) -> String? {
        let believed = record.resume.written
        guard record.state != .completed, !believed.isEmpty, let name = record.fileName,
            let file = Self.byPath[record.request.url.path]
        else { return nil }
        let path = base.folder(FileNaming.partial(name))
        guard let status = FileStatus.of(path), let identity = record.resume.file,
            status.identity.isSame(as: identity)
        else { return nil }
        guard let version = record.resume.validators.etag.flatMap({ Int($0.opaque) }), version < file.bytes.count else {
            return "\(record.id) believes bytes of no version"
        }
        guard let data = FileManager.default.contents(atPath: path) else { return "\(path) cannot be read" }
        for range in believed.ranges {
            let (first, end) = (Int(range.lowerBound), Int(range.upperBound))
            guard end <= data.count, end <= file.bytes[version].count,
                Self.areSame(data, file.bytes[version], first..<end)
            else { return "\(record.id) believes \(range) of \(name), which were not written" }
        }
        return nil
    }

    /// Returns what is wrong with the file of a completed download, or nil.
    func faultOfFile(_ record: DownloadRecord) -> String? {
        guard let file = Self.byPath[record.request.url.path], let name = record.fileName else {
            return "\(record.id) has no name"
        }
        guard let data = FileManager.default.contents(atPath: base.folder(name)) else {
            return "\(record.id) is completed without \(name)"
        }
        let isRight = file.bytes.contains { $0.count == data.count && Self.areSame(data, $0, 0..<data.count) }
        return isRight ? nil : "\(record.id): \(name) is wrong"
    }

    /// `memcmp`, because comparing collections takes long in a debug build.
    private static func areSame(_ data: Data, _ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        data.withUnsafeBytes { data in
            bytes.withUnsafeBytes { bytes in
                memcmp(data.baseAddress! + range.lowerBound, bytes.baseAddress! + range.lowerBound, range.count) == 0
            }
        }
    }
}
