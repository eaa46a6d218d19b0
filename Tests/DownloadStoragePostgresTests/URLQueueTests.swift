import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadStoragePostgres

/// The queue on a real server. A cluster takes a second to start, so several cases share one. Each case has its own
/// database.
@Suite("A queue in PostgreSQL", .serialized, .timeLimit(.minutes(3)), .enabled(if: PostgresServer.canRun))
struct URLQueueTests {
    /// A database of its own for a case.
    struct Database {
        let server: PostgresServer
        let name: String

        var location: QueueLocation { get throws { try QueueLocation(server.url(name)) } }

        func queue(creates: Bool = true) async throws -> URLQueue {
            try await URLQueue.open(try location, creates: creates)
        }

        /// Runs statements beside the queue.
        @discardableResult
        func run(_ statement: String) throws -> [[String?]] { try PostgresConnection(try location).run(statement) }
    }

    private func withServer(_ cases: [(String, (Database) async throws -> Void)]) async throws {
        let server = try await PostgresServer()
        do {
            for (name, body) in cases {
                try PostgresConnection(try QueueLocation(server.url("postgres"))).run("CREATE DATABASE \(name)")
                try await body(Database(server: server, name: name))
            }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    static func items(_ numbers: Range<Int>, hosts: Int = 4, document: String = "{}") -> [QueueItem] {
        numbers.map {
            let host = "h\($0 % hosts).test"
            return QueueItem(url: "https://\(host)/\($0)", host: host, document: document, folder: "a", name: "n\($0)")
        }
    }

    private static func done(_ items: some Sequence<LeasedItem>) -> [QueueResult] {
        items.map { QueueResult(id: $0.id, state: .done, bytes: 7, error: nil, line: "{\"url\":\"\($0.url)\"}") }
    }

    private static func numbers(_ counts: QueueCounts) -> [Int] {
        [counts.queued, counts.done, counts.failed, counts.failedForGood]
    }

    private static func lease(
        _ queue: URLQueue, _ worker: Int64, most: Int = 1000, hosts: Int = 100, workers: Int = 1
    ) async throws -> [LeasedItem] {
        // If a worker names no held items, the queue takes back all its URLs. The id -1 prevents this.
        try #require(try await queue.lease(worker, most: most, hosts: hosts, workers: workers, held: { [-1] }))
    }

    @Test("Adding, leasing, fencing, limits of hosts, rights, and control")
    func cases() async throws {
        try await withServer([
            ("adding", adding), ("leasing", leasing), ("fencing", fencing), ("dead", dead), ("hosts", hosts),
            ("crowd", crowd), ("control", control), ("rights", rights), ("deleted", deleted), ("versions", versions),
        ])
    }

    private func adding(_ database: Database) async throws {
        await #expect(throws: DownloadError.self) { try await database.queue(creates: false) }
        let queue = try await database.queue()
        #expect(try await queue.add(Self.items(0..<100)) == 100)
        #expect(try await queue.add(Self.items(50..<150) + Self.items(149..<150)) == 50)
        let odd = QueueItem(
            url: "https://h/\t\\N\"'{}é", host: "h\\", document: "{\"a\":\"\\\\\"}", folder: "", name: nil)
        #expect(try await queue.add([odd]) == 1)
        let counts = try await queue.counts()
        #expect(counts.queued == 151 && counts.leased == 0 && counts.hosts.map(\.queued).reduce(0, +) == 151)
        let worker = try await queue.startWorker("w", lease: 60)
        let leased = try await Self.lease(queue, worker)
        let found = try #require(leased.first { $0.url == odd.url })
        #expect(found.name == nil && found.folder == "")
        #expect(try await queue.documents([found.request]) == [found.request: odd.document])
        #expect(leased.first { $0.url == "https://h0.test/0" }?.name == "n0")
        #expect(Set(leased.map(\.request)).count == 2)
    }

    private func leasing(_ database: Database) async throws {
        let (one, two) = (try await database.queue(), try await database.queue())
        _ = try await one.add(Self.items(0..<1000, hosts: 10))
        let workers = [try await one.startWorker("a", lease: 60), try await two.startWorker("b", lease: 60)]
        async let first = Self.drain(one, workers[0])
        async let second = Self.drain(two, workers[1])
        let (a, b) = (try await first, try await second)
        #expect(Set(a).isDisjoint(with: b) && a.count + b.count == 1000 && Set(a + b).count == 1000)
        #expect(try await !one.hasWork())
        let counts = try await one.counts()
        #expect(counts.done == 1000 && counts.bytes == 7000 && counts.hosts.isEmpty)
        #expect(try database.run("SELECT count(*) FROM dlm.host WHERE queued <> 0 OR workers <> 0") == [["0"]])
    }

    /// Takes and reports URLs until the queue is empty.
    private static func drain(_ queue: URLQueue, _ worker: Int64) async throws -> [Int64] {
        var ids: [Int64] = []
        while true {
            let leased = try await lease(queue, worker, most: 30, hosts: 3, workers: 2)
            if leased.isEmpty, try await !queue.hasWork() { return ids }
            let accepted = try await queue.report(worker, done(leased))
            #expect(accepted == Set(leased.map(\.id)))
            ids += leased.map(\.id)
        }
    }

    private func fencing(_ database: Database) async throws {
        let queue = try await database.queue()
        _ = try await queue.add(Self.items(0..<10))
        let slow = try await queue.startWorker("slow", lease: 60)
        let lost = try await Self.lease(queue, slow)
        #expect(lost.count == 10)
        // The lease of the slow worker is over.
        try database.run("UPDATE dlm.worker SET until = now() - interval '1 s', lease = interval '1 ms'")
        let heir = try await queue.startWorker("heir", lease: 60)
        let inherited = try await Self.lease(queue, heir)
        #expect(inherited.map(\.id) == lost.map(\.id) && inherited.allSatisfy { $0.attempts == 2 })
        #expect(try await queue.report(slow, Self.done(lost)).isEmpty)
        #expect(try await !queue.heartbeat(slow))
        #expect(try await queue.lease(slow, most: 1, hosts: 1, workers: 9, held: { [] }) == nil)
        let half = Self.done(inherited.prefix(5))
        #expect(try await queue.report(heir, half).count == 5)
        // A report whose answer was lost is sent again.
        #expect(try await queue.report(heir, half + Self.done(inherited.dropFirst(5))).count == 10)
        #expect(try await queue.counts().done == 10)
        #expect(try database.run("SELECT count(*) FROM dlm.slot") == [["0"]])
    }

    private func dead(_ database: Database) async throws {
        let queue = try await database.queue()
        _ = try await queue.add(Self.items(0..<20))
        let alive = try await queue.startWorker("alive", lease: 60)
        let leaving = try await queue.startWorker("leaving", lease: 60)
        let taken = try await Self.lease(queue, leaving, most: 20)
        _ = try await queue.report(leaving, Self.done(taken.prefix(3)))
        // Nothing comes back while the lease lasts.
        #expect(try await Self.lease(queue, alive).isEmpty)
        #expect(try await queue.hasWork())
        #expect(try await queue.heartbeat(leaving))
        try await queue.endWorker(leaving, patience: 0)
        #expect(try await Self.lease(queue, alive).count == 17)
        // If the answer to a lease call is lost, the worker has URLs that it does not know. It gives them back.
        let held = PostgresLiteral.array(taken.dropFirst(3).prefix(7).map(\.id))
        try database.run("SELECT FROM dlm.lease(\(alive), 0, 1, 1, '\(held)')")
        let counts = try await queue.counts()
        #expect(counts.leased == 7 && counts.queued == 10 && counts.workers.map(\.leased) == [7])
        // If a worker names no held items, the queue takes back all its URLs.
        #expect(try await queue.lease(alive, most: 5, hosts: 9, workers: 1, held: { [] })?.count == 5)
        #expect(try await queue.counts().workers.map(\.leased) == [5])
    }

    private func hosts(_ database: Database) async throws {
        let queue = try await database.queue()
        _ = try await queue.add(Self.items(0..<400, hosts: 2))
        let workers = [
            try await queue.startWorker("a", lease: 60), try await queue.startWorker("b", lease: 60),
            try await queue.startWorker("c", lease: 60),
        ]
        let first = try await Self.lease(queue, workers[0], most: 10, hosts: 1)
        #expect(Set(first.map { $0.url.dropLast($0.url.count - 16) }).count == 1)
        let second = try await Self.lease(queue, workers[1], most: 10, hosts: 5)
        #expect(second.count == 10 && second.allSatisfy { !$0.url.hasPrefix(first[0].url.prefix(16)) })
        #expect(try await Self.lease(queue, workers[2], most: 10).isEmpty)
        // A worker gets more URLs of its own host, and another host only if the limit allows this.
        #expect(try await Self.lease(queue, workers[0], most: 10, hosts: 1).count == 10)
        let shared = try await Self.lease(queue, workers[2], most: 10, workers: 2)
        #expect(shared.count == 10)
        #expect(try await Self.lease(queue, workers[2], most: 10, workers: 2).count == 10)
        try database.run("UPDATE dlm.host SET most_workers = 1")
        let fourth = try await queue.startWorker("d", lease: 60)
        #expect(try await Self.lease(queue, fourth, workers: 100).isEmpty)
        // When a worker has reported its last URL of a host, another worker may use the host.
        let mine = try await queue.items(in: [.leased], after: 0, limit: 1000).filter { $0.worker == "c" }
        let ends = mine.map { QueueResult(id: $0.id, state: .failed, bytes: 0, error: "x/y", line: "{}") }
        #expect(try await queue.report(workers[2], ends).count == 20)
        try await queue.endWorker(workers[1], patience: 0)
        #expect(try await Self.lease(queue, fourth, workers: 100).isEmpty == false)
        #expect(
            try await Self.lease(queue, fourth, workers: 100).allSatisfy { !$0.url.hasPrefix(first[0].url.prefix(16)) })
    }

    /// Workers that lease, report and die at the same time keep all numbers right.
    private func crowd(_ database: Database) async throws {
        let queue = try await database.queue()
        _ = try await queue.add(Self.items(0..<900, hosts: 30))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    let queue = try await database.queue(creates: false)
                    var generator = SplitMix64(seed: UInt64(number))
                    var worker = try await queue.startWorker("w\(number)", lease: 60)
                    while true {
                        let leased = try await Self.lease(queue, worker, most: 40, hosts: 5, workers: 3)
                        if leased.isEmpty, try await !queue.hasWork() { return }
                        if Int.random(in: 0..<8, using: &generator) == 0 {
                            try await queue.endWorker(worker, patience: 0)
                            worker = try await queue.startWorker("w\(number)", lease: 60)
                        } else {
                            _ = try await queue.report(worker, Self.done(leased))
                        }
                        let above = try database.run("SELECT count(*) FROM dlm.host WHERE workers > 3 OR workers < 0")
                        #expect(above == [["0"]])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await queue.counts().done == 900)
        #expect(try database.run("SELECT count(*) FROM dlm.host WHERE queued <> 0 OR workers <> 0") == [["0"]])
        #expect(try database.run("SELECT count(*) FROM dlm.slot") == [["0"]])
    }

    private func control(_ database: Database) async throws {
        let queue = try await database.queue()
        _ = try await queue.add(Self.items(0..<8, hosts: 2))
        let worker = try await queue.startWorker("w", lease: 60)
        #expect(try await queue.pause(true))
        #expect(try await Self.lease(queue, worker).isEmpty)
        #expect(try await queue.pause(false))
        #expect(try await queue.pause(true, host: "h0.test"))
        #expect(try await !queue.pause(true, host: "nobody.test"))
        let leased = try await Self.lease(queue, worker)
        #expect(leased.count == 4 && leased.allSatisfy { $0.url.hasPrefix("https://h1") })
        #expect(try await queue.pause(false, host: "h0.test"))
        let older = try PostgresConnection(try database.location)
        try older.run("BEGIN")
        try older.run("SELECT pg_current_xact_id()")
        let states: [QueueResult.State] = [.done, .failed, .failedForGood, .failedForGood]
        _ = try await queue.report(
            worker,
            zip(leased, states).map { item, state in
                let error = state == .done ? nil : "server/status404"
                return QueueResult(id: item.id, state: state, bytes: 1, error: error, line: "{\"url\":\"\(item.url)\"}")
            })
        var counts = try await queue.counts()
        #expect(Self.numbers(counts) == [4, 1, 1, 2])
        let failed = try await queue.items(in: [.failed, .failedForGood], after: 0, limit: 2)
        #expect(failed.map(\.id) == leased[1...2].map(\.id) && failed[0].error == "server/status404")
        #expect(try await queue.items([leased[0].id])[0].line == "{\"url\":\"\(leased[0].url)\"}")
        // Each end is returned once, and all ends of one report have the same cursor. Ends are withheld while an older
        // transaction runs, because it could still record an end.
        #expect(try await queue.ends(after: 0).isEmpty)
        try older.run("ROLLBACK")
        let ends = try await queue.ends(after: 0)
        #expect(ends.map(\.item.state.rawValue).sorted() == [2, 3, 4, 4])
        let cursor = try #require(ends.first?.cursor)
        #expect(ends.allSatisfy { $0.cursor == cursor })
        #expect(try await queue.ends(after: cursor).isEmpty)
        #expect(try await queue.newestEnd() >= cursor)
        #expect(try await queue.retry(forGood: false) == 1)
        #expect(try await queue.retry(forGood: true, [leased[3].id, leased[0].id]) == 1)
        #expect(try await queue.retry(forGood: true) == 1)
        counts = try await queue.counts()
        #expect(Self.numbers(counts) == [7, 1, 0, 0])
    }

    /// The statements of the manual give each role what it needs, and no more.
    private func rights(_ database: Database) async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/postgres.md"), encoding: .utf8)
        let block = try #require(page.components(separatedBy: "```sql\n").dropFirst().first)
        _ = try await database.queue()
        try database.run(try #require(block.components(separatedBy: "```").first))
        func queue(_ role: String) async throws -> URLQueue {
            try database.run("ALTER ROLE \(role) LOGIN PASSWORD '\(PostgresServer.password)'")
            return try await URLQueue.open(try QueueLocation(database.server.url(database.name, as: role)))
        }
        let (adder, worker) = (try await queue("dlm_add"), try await queue("dlm_work"))
        let (reader, controller) = (try await queue("dlm_read"), try await queue("dlm_control"))
        #expect(try await adder.add(Self.items(0..<3)) == 3)
        let id = try await worker.startWorker("w", lease: 60)
        let leased = try await Self.lease(worker, id)
        #expect(try await worker.documents([leased[0].request]).count == 1)
        #expect(try await worker.heartbeat(id))
        #expect(try await worker.report(id, Self.done(leased)).count == 3)
        #expect(try await worker.retry(forGood: true) == 0)
        #expect(try await !worker.hasWork())
        // After a lost connection, the worker has the right to give back URLs that it does not know.
        #expect(try await adder.add(Self.items(3..<6)) == 3)
        #expect(try await Self.lease(worker, id).count == 3)
        try database.run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'dlm_work'")
        let again = try await Self.lease(worker, id)
        #expect(again.count == 3 && again.allSatisfy { $0.attempts == 2 })
        #expect(try await worker.report(id, Self.done(again)).count == 3)
        try await worker.endWorker(id, patience: 0)
        #expect(try await reader.counts().done == 6)
        #expect(try await reader.items([leased[0].id]).count == 1)
        #expect(try await controller.pause(true))
        #expect(try await controller.counts().isPaused)
        await #expect(throws: DownloadError.self) { try await adder.startWorker("w", lease: 60) }
        await #expect(throws: DownloadError.self) { try await worker.add(Self.items(0..<3)) }
        await #expect(throws: DownloadError.self) { try await reader.pause(false) }
        await #expect(throws: DownloadError.self) { try await reader.add(Self.items(0..<3)) }
        for role in ["dlm_add", "dlm_work", "dlm_read"] {
            let own = try PostgresConnection(try QueueLocation(database.server.url(database.name, as: role)))
            for statement in [
                "DELETE FROM dlm.item", "SELECT dlm.give_back(1, '{}')", "UPDATE dlm.host SET queued = 0",
            ] {
                #expect(throws: PostgresFailure.self, "\(role): \(statement)") { try own.run(statement) }
            }
        }
        // Over TCP, a role needs its password.
        let network = try QueueLocation(database.server.networkURL(database.name, as: "dlm_read"))
        await #expect(throws: DownloadError.self) { try await URLQueue.open(network) }
    }

    /// No worker waits for deleted URLs, and `dlm.recount()` corrects wrong counts.
    private func deleted(_ database: Database) async throws {
        let queue = try await database.queue()
        _ = try await queue.add(Self.items(0..<12, hosts: 3))
        let worker = try await queue.startWorker("w", lease: 60)
        try database.run("DELETE FROM dlm.item WHERE url LIKE 'https://h0.test/%'")
        let leased = try await Self.lease(queue, worker)
        #expect(leased.count == 8)
        _ = try await queue.report(worker, Self.done(leased.filter { $0.url.hasPrefix("https://h1.test/") }))
        #expect(try await queue.hasWork())
        try database.run("DELETE FROM dlm.item WHERE url LIKE 'https://h2.test/%'")
        try await queue.endWorker(worker, patience: 0)
        #expect(try await !queue.hasWork())
        #expect(try database.run("SELECT count(*) FROM dlm.host WHERE queued <> 0 OR workers <> 0") == [["0"]])

        _ = try await queue.add(Self.items(20..<32, hosts: 3))
        let alive = try await queue.startWorker("alive", lease: 60)
        let dead = try await queue.startWorker("dead", lease: 60)
        #expect(try await Self.lease(queue, alive, hosts: 1).count == 4)
        #expect(try await Self.lease(queue, dead, hosts: 1).count == 4)
        try database.run(
            "DELETE FROM dlm.slot WHERE worker = \(dead); DELETE FROM dlm.worker WHERE id = \(dead);"
                + "UPDATE dlm.host SET queued = 7, workers = 7; SELECT dlm.recount()")
        let counts = try await queue.counts()
        #expect(counts.queued == 8 && counts.leased == 4 && counts.workers.map(\.leased) == [4])
        #expect(counts.hosts.map(\.queued).sorted() == [0, 4, 4] && counts.hosts.map(\.workers).sorted() == [0, 0, 1])
        // The key must be the beginning of the URL's digest, so no URL can be in the table twice.
        #expect(throws: PostgresFailure.self) {
            try database.run(
                "INSERT INTO dlm.item (key, url, host, request, folder) "
                    + "SELECT gen_random_uuid(), 'https://h1.test/1', host, request, '' FROM dlm.item LIMIT 1")
        }
    }

    private func versions(_ database: Database) async throws {
        // Several programs migrate at the same time.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { _ = try await database.queue() } }
            try await group.waitForAll()
        }
        #expect(try database.run("SELECT version FROM dlm.version") == [["\(QueueMigrations.steps.count)"]])
        try database.run("INSERT INTO dlm.version VALUES (99)")
        await #expect(throws: DownloadError.self) { try await database.queue() }
        await #expect(throws: DownloadError.self) { try await database.queue(creates: false) }
        let location = try QueueLocation("postgres://127.0.0.1:1/x?connect_timeout=1")
        await #expect(throws: DownloadError.self) { try await URLQueue.open(location) }
    }

    @Test("A server that is killed during the work loses nothing, and its workers continue when it is back")
    func killed() async throws {
        try await withServer([
            (
                "killed",
                { database in
                    let queue = try await database.queue()
                    _ = try await queue.add(Self.items(0..<800, hosts: 10))
                    let begun = Observed(0)
                    async let work = withThrowingTaskGroup(of: [Int64].self) { group in
                        for number in 0..<2 {
                            group.addTask {
                                let queue = try await database.queue(creates: false)
                                let worker = try await queue.startWorker("w\(number)", lease: 60)
                                var ids: [Int64] = []
                                while true {
                                    let known = ids
                                    let leased = try #require(
                                        try await queue.lease(worker, most: 20, hosts: 5, workers: 2, held: { known }))
                                    if leased.isEmpty, try await !queue.hasWork() { return ids }
                                    ids += try await queue.report(worker, Self.done(leased))
                                    begun.update { $0 += leased.count }
                                }
                            }
                        }
                        return try await group.reduce(into: []) { $0 += $1 }
                    }
                    for number in [100, 400] {
                        #expect(await begun.wait { $0 > number })
                        await database.server.kill()
                        try await database.server.start()
                    }
                    let ids = try await work
                    #expect(ids.count == 800 && Set(ids).count == 800)
                    #expect(try await queue.counts().done == 800)
                    #expect(
                        try database.run("SELECT count(*) FROM dlm.host WHERE queued <> 0 OR workers <> 0") == [["0"]])
                }
            )
        ])
    }
}
