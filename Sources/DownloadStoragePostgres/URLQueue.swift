import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// A queue of URLs in PostgreSQL, which programs on many machines share. The first program that adds URLs and needs a
/// newer schema migrates the queue.
///
/// A lost connection is opened again, and the call is repeated, until ``patience`` is over. All calls may be repeated:
/// a report is accepted twice, and URLs whose lease never arrived are given back (`held`).
package final class URLQueue: Sendable {
    /// The time for which a call waits for a server that is gone, in seconds.
    package static let patience = 600.0

    private let location: QueueLocation
    private let time: any TimeSource
    private let queue = DispatchQueue(label: "dlm.postgres")
    /// The connection, which only ``queue`` uses; nil if there is none.
    private let connection = Mutex<Slot>(Slot())

    /// The connection of the queue. Only one thread uses it at a time, because only ``queue`` uses it.
    private struct Slot: @unchecked Sendable {
        var connection: PostgresConnection?
    }

    private init(_ location: QueueLocation, _ time: any TimeSource) {
        self.location = location
        self.time = time
    }

    /// Connects to the queue.
    /// - Parameter creates: whether the tables are made or migrated if that is necessary.
    package static func open(
        _ location: QueueLocation, creates: Bool = false, time: any TimeSource = SystemTime()
    ) async throws(DownloadError) -> URLQueue {
        let queue = URLQueue(location, time)
        try await queue.perform(patience: 0) { connection throws(PostgresFailure) in
            if creates { try QueueMigrations.run(on: connection) }
            try QueueMigrations.check(connection)
        }
        return queue
    }

    // MARK: Adding

    /// Adds URLs in one transaction. URLs that the queue has already are not changed.
    /// - Returns: the number of URLs that were added. The others were in the queue already, or twice among the items.
    package func add(_ items: [QueueItem]) async throws(DownloadError) -> Int {
        let numbers = try await requests(Set(items.map(\.document)).sorted())
        var lines: [UInt8] = []
        for (position, item) in items.enumerated() {
            let request = numbers[item.document].map { "\($0)" }
            let values = ["\(position)", try Self.key(item.url), item.url, item.host, request, item.folder, item.name]
            PostgresLiteral.appendLine(values, to: &lines)
        }
        return try number(
            await perform { [lines] connection throws(PostgresFailure) in
                try connection.transaction { () throws(PostgresFailure) in
                    try connection.copy(lines, to: "dlm.incoming (position, key, url, host, request, folder, name)")
                    return try connection.run("SELECT added FROM dlm.enqueue()")
                }
            })
    }

    /// Records documents, and returns their numbers.
    private func requests(_ documents: [String]) async throws(DownloadError) -> [String: Int] {
        var keys: [String] = []
        for document in documents { keys.append(try Self.key(document)) }
        let rows = try await run(
            "SELECT * FROM dlm.add_requests($1, $2)", [PostgresLiteral.array(keys), PostgresLiteral.array(documents)])
        let numbers = rows.map { $0[0].flatMap(Int.init) ?? 0 }
        return Dictionary(zip(documents, numbers)) { first, _ in first }
    }

    /// Returns the beginning of the SHA-256 digest of a text as a UUID, which is half the size of the digest.
    static func key(_ text: String) throws(DownloadError) -> String {
        String(try TextDigest(text).hexadecimal.prefix(32))
    }

    // MARK: Working

    /// Registers a worker, and returns its number. After the worker has been ended, because its lease was over, the
    /// queue accepts nothing from this number any more.
    package func startWorker(_ name: String, lease: Double) async throws(DownloadError) -> Int64 {
        Int64(try number(await run("SELECT dlm.start_worker($1, $2)", [name, "\(lease)"])))
    }

    /// Leases at most `most` URLs, of at most `hosts` hosts, each of which has at most `workers` workers.
    /// - Parameter held: the items that the worker has leased. If the call is repeated, or if `held` returns no items,
    ///   all other items of the worker are given back first.
    /// - Returns: nil if the worker has been ended, because its lease was over.
    package func lease(
        _ worker: Int64, most: Int, hosts: Int, workers: Int, held: @escaping @Sendable () -> [Int64]
    ) async throws(DownloadError) -> [LeasedItem]? {
        let isRepeated = Mutex(false)
        let rows = try await perform { connection throws(PostgresFailure) -> PostgresConnection.Rows? in
            let mustGiveBack = isRepeated.withLock { repeated in
                defer { repeated = true }
                return repeated
            }
            do throws(PostgresFailure) {
                // A worker that holds no items gives back the items that the queue still records as leased by it. This
                // happens after a failover that lost the last reports of the worker.
                let ids = held()
                let kept = mustGiveBack || ids.isEmpty ? PostgresLiteral.array(ids) : nil
                let statement =
                    "SELECT id, url, request, folder, name, attempts, first_leased FROM dlm.lease($1, $2, $3, $4, $5)"
                let values = ["\(worker)", "\(most)", "\(hosts)", "\(workers)", kept]
                let leased = try connection.run(statement, values)
                var hasEnded = false
                while try connection.run("SELECT dlm.end_dead_worker()").first?.first == "t" { hasEnded = true }
                return leased.isEmpty && hasEnded ? try connection.run(statement, values) : leased
            } catch {
                if error.kind == .leaseLost { return nil }
                throw error
            }
        }
        return rows?.compactMap(LeasedItem.init)
    }

    /// Returns documents by their numbers.
    package func documents(_ ids: [Int]) async throws(DownloadError) -> [Int: String] {
        let rows = try await run("SELECT id, document FROM dlm.documents($1)", [PostgresLiteral.array(ids)])
        return rows.reduce(into: [:]) { found, row in
            if let id = row[0].flatMap(Int.init), let document = row[1] { found[id] = document }
        }
    }

    /// Records how URLs ended.
    /// - Returns: the items whose end is recorded. The other items are no longer leased by this worker.
    package func report(_ worker: Int64, _ results: [QueueResult]) async throws(DownloadError) -> Set<Int64> {
        let values: [String?] = [
            "\(worker)", PostgresLiteral.array(results.map(\.id)),
            PostgresLiteral.array(results.map(\.state.rawValue)), PostgresLiteral.array(results.map(\.bytes)),
            PostgresLiteral.array(results.map(\.error)), PostgresLiteral.array(results.map { Optional($0.line) }),
        ]
        let rows = try await run("SELECT * FROM dlm.report($1, $2, $3, $4, $5, $6)", values)
        return Set(rows.compactMap { $0[0].flatMap(Int64.init) })
    }

    /// Lengthens the lease of a worker. Returns false if the worker has been ended, because its lease was over.
    package func heartbeat(_ worker: Int64) async throws(DownloadError) -> Bool {
        try await isTrue("SELECT dlm.heartbeat($1)", ["\(worker)"])
    }

    /// Returns whether any URL is queued, or leased by any worker.
    package func hasWork() async throws(DownloadError) -> Bool { try await isTrue("SELECT dlm.has_work()") }

    /// Gives back what a worker has leased, and forgets the worker.
    /// - Parameter patience: the time in seconds for which the call tries to reach a server that is gone.
    package func endWorker(_ worker: Int64, patience: Double) async throws(DownloadError) {
        _ = try await run("SELECT dlm.end_worker($1)", ["\(worker)"], patience: patience)
    }

    // MARK: Calls

    func isTrue(_ statement: String, _ values: [String?] = []) async throws(DownloadError) -> Bool {
        try await run(statement, values).first?.first == "t"
    }

    func run(
        _ statement: String, _ values: [String?] = [], patience: Double = URLQueue.patience
    ) async throws(DownloadError) -> PostgresConnection.Rows {
        try await perform(patience: patience) { connection throws(PostgresFailure) in
            try connection.run(statement, values)
        }
    }

    func number(_ rows: PostgresConnection.Rows) throws(DownloadError) -> Int {
        guard let number = rows.first?.first.flatMap({ $0.flatMap(Int.init) }) else {
            throw PostgresFailure(.other, "the answer of the queue is no number").error(at: location)
        }
        return number
    }

    /// Calls `body` with a connection, again and again until it succeeds or `patience` is over. An error that another
    /// call would not change ends the attempts.
    func perform<Result: Sendable>(
        patience: Double = URLQueue.patience,
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Result
    ) async throws(DownloadError) -> Result {
        let end = time.now + .seconds(patience)
        var pause = 0.05
        while true {
            do {
                return try await attempt(body)
            } catch {
                guard error.isTransient, time.now < end, !Task.isCancelled else { throw error.error(at: location) }
                // Only cancellation ends the sleep early, and it also ends the loop.
                try? await time.sleep(for: .seconds(pause))
                pause = min(2, pause * 2)
            }
        }
    }

    private func attempt<Result: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> Result
    ) async throws(PostgresFailure) -> Result {
        try await queue.run { [self] () throws(PostgresFailure) -> Result in
            try connection.withLock { slot throws(PostgresFailure) -> Result in
                do throws(PostgresFailure) {
                    if slot.connection?.isAlive != true { slot.connection = try PostgresConnection(location) }
                    guard let connection = slot.connection else { throw PostgresFailure(.other, "") }
                    return try body(connection)
                } catch {
                    if error.kind == .connectionLost { slot.connection = nil }
                    throw error
                }
            }
        }
    }
}
