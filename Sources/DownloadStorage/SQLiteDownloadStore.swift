import DownloadCore
import DownloadSystem
import Foundation
import GRDB
import Synchronization

/// The store of downloads in one SQLite database, which any number of processes use at the same time. An unrecorded
/// session has a database of its own, in memory.
///
/// Calls run on the database's queue, never on the caller's thread. They are finished even if the calling task is
/// cancelled, because cancelled tasks write their resume data. The secrets of a request are not stored, so the records
/// that are read lack them.
package final class SQLiteDownloadStore: DownloadStore {
    package let path: String
    private let connection: StoreConnection
    var database: DatabaseQueue { connection.queue }
    let coder = RequestCoder()
    let isAlive: @Sendable (String) -> Bool
    let time: any TimeSource
    private let committer: SaveCommitter
    private let isClosed = Atomic(false)

    /// Creates the folder and the store if they are missing. Waits for other processes that do the same.
    /// - Parameter folder: The state folder. If nil, the store is in memory, and nothing is written to a disk.
    package init(
        folder: String?, isAlive: @escaping @Sendable (String) -> Bool, time: any TimeSource = SystemTime(),
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(DownloadError) {
        path = folder.map { FileNaming.path($0, StoreFile.name) } ?? ""
        if let folder { try PrivateFolder.make(folder) }
        connection = try StoreConnection(path, time, notice)
        committer = SaveCommitter(connection, coder: coder, time: time)
        self.isAlive = isAlive
        self.time = time
    }

    package func save(
        _ records: [DownloadRecord], session: String, durably: Bool
    ) async throws -> Set<DownloadID> {
        records.isEmpty ? [] : try await save(SmallFiles(), records, session: session, durably: durably)
    }

    package func save(
        _ files: SmallFiles, _ records: [DownloadRecord], session: String, durably: Bool
    ) async throws -> Set<DownloadID> {
        try refuseWhenClosed()
        let made = Result { try rows(files, records) }
        return try await withConnection { _ in
            try await committer.save(try made.get(), session: session, durably: durably)
        }
    }

    /// Synchronous, to keep the large rows out of the frames of waiting tasks (see `AttemptPhase`).
    @inline(never)
    private func rows(_ files: SmallFiles, _ records: [DownloadRecord]) throws -> [SaveCommitter.SavedRow] {
        func whole(_ record: DownloadRecord) throws -> SaveCommitter.SavedRow {
            .whole(try DownloadRow(record, coder: coder))
        }
        return try files.completed.map { try DoneRow.suits($0) ? .done($0) : whole($0.record) }
            + files.finishing.map { try Intent.suits($0) ? .intent($0) : whole($0.finishing) }
            + records.map(whole)
    }

    package func close() async {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        do {
            _ = try await committer.save([], session: "")
            try database.close()
        } catch {
            // A failure to close is harmless: every save has returned, and is in the log file or in the database.
        }
    }

    /// Runs `body` in one transaction that takes the write lock at its start.
    func write<Value: Sendable>(
        durably: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await perform { db in try db.immediately(durably: durably) { try body(db) } }
    }

    /// Runs `body`, which only reads, in one transaction. All its statements see the same state of the database.
    /// Otherwise another process could give a download a row of `detail` between two statements, which would then find
    /// the download neither with nor without the row.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await perform { db in try db.transaction(.deferred) { try body(db) } }
    }

    func perform<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try refuseWhenClosed()
        return try await withConnection { queue in
            // GRDB's async calls are not used, because they fail if the task is cancelled.
            let outcome = await withCheckedContinuation { continuation in
                queue.asyncWriteWithoutTransaction { db in
                    continuation.resume(returning: Result { try body(db) })
                }
            }
            return try outcome.get()
        }
    }

    /// Runs `body`, and once more if the connection had to be replaced meanwhile.
    private func withConnection<Value: Sendable>(
        _ body: (DatabaseQueue) async throws -> Value
    ) async throws -> Value {
        let queue = database
        do {
            do {
                return try await body(queue)
            } catch {
                guard !isClosed.load(ordering: .sequentiallyConsistent), try connection.replace(queue, after: error)
                else { throw error }
            }
            return try await body(database)
        } catch {
            throw StoreFailure(path: path).error(error)
        }
    }

    private func refuseWhenClosed() throws {
        if isClosed.load(ordering: .sequentiallyConsistent) { throw DownloadError.sessionUnavailable(.shuttingDown) }
    }
}
