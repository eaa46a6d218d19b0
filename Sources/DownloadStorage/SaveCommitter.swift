import DownloadCore
import DownloadSystem
import Foundation
import GRDB
import Synchronization

/// A group commit. All saves that are requested while a transaction runs, or within 5 ms after the last one, share one
/// transaction, in the order of the calls. The first few groups after a pause do not wait, because the wait would be
/// longer than the download of a small file. A store in memory does not wait for further saves, because its transactions
/// cost little. The transactions run on the database's queue. Between groups no thread waits.
final class SaveCommitter: Sendable {
    enum SavedRow: Sendable {
        case whole(DownloadRow)
        /// A file that is about to get its name.
        case intent(SmallFile)
        case done(SmallFile)

        var id: DownloadID {
            switch self {
            case .whole(let row): row.record.id
            case .intent(let file), .done(let file): file.id
            }
        }

        /// The id of the download of a small file.
        var fileID: DownloadID? { if case .whole = self { nil } else { id } }
    }

    private struct Call {
        let rows: [SavedRow]
        let session: String
        let isDurable: Bool
        let continuation: CheckedContinuation<Set<DownloadID>, any Error>
    }

    private struct State {
        var waiting: [Call] = []
        var isScheduled = false
        /// The earliest time of the next group. The further this time is in the past, the more groups need not wait.
        var due: ContinuousClock.Instant
    }

    private let connection: StoreConnection
    private let coder: RequestCoder
    private let time: any TimeSource
    private let state: Mutex<State>
    private let intents = Mutex(Intents())
    private let interval: Duration
    private static let burst = 8

    init(_ connection: StoreConnection, coder: RequestCoder, time: any TimeSource) {
        self.connection = connection
        self.coder = coder
        self.time = time
        interval = connection.path.isEmpty ? .zero : .milliseconds(5)
        state = Mutex(State(due: time.now - interval * Self.burst))
    }

    /// Saves rows. Returns the ids of the rows that do not belong to `session` any more. Without rows, returns when all
    /// earlier calls have ended.
    func save(_ rows: [SavedRow], session: String, durably: Bool = false) async throws -> Set<DownloadID> {
        try await withCheckedThrowingContinuation { continuation in
            let call = Call(rows: rows, session: session, isDurable: durably, continuation: continuation)
            let delay = state.withLock { state -> Duration? in
                state.waiting.append(call)
                if state.isScheduled { return nil }
                state.isScheduled = true
                // Without rows there is nothing that could share a transaction.
                return rows.isEmpty ? .zero : self.delay(state)
            }
            if let delay { schedule(after: delay) }
        }
    }

    private func delay(_ state: State) -> Duration { max(.zero, state.due - time.now) }

    private func schedule(after delay: Duration) {
        let commit: @Sendable () -> Void = { [self] in connection.queue.asyncWriteWithoutTransaction(commitGroup) }
        if delay == .zero { return commit() }
        time.schedule(after: delay, on: .global(), commit)
    }

    private func commitGroup(_ db: Database) {
        let group = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        let outcome = Result { try write(group, to: db) }
        FaultPoint.reached("committed")
        let delay = state.withLock { state -> Duration? in
            state.due = max(state.due, time.now - interval * Self.burst) + interval
            state.isScheduled = !state.waiting.isEmpty
            return state.isScheduled ? self.delay(state) : nil
        }
        if let delay { schedule(after: delay) }
        for (index, call) in group.enumerated() {
            call.continuation.resume(with: outcome.map { $0[index] })
        }
    }

    /// Writes the rows of a group. Returns the lost ids of each call.
    private func write(_ group: [Call], to db: Database) throws -> [Set<DownloadID>] {
        if group.allSatisfy(\.rows.isEmpty) { return group.map { _ in [] } }
        var intents = self.intents.withLock(\.self)
        let lost = try db.immediately(durably: group.contains(where: \.isDurable)) {
            var writer = RowWriter(db, coder: coder)
            var files = try SavedFiles(db)
            let lost = try group.map { call in
                var lost: Set<DownloadID> = []
                try files.look(at: call.rows.compactMap(\.fileID))
                for row in call.rows {
                    let isOwned = try write(row, of: call.session, &writer, &files, &intents)
                    if !isOwned { lost.insert(row.id) }
                }
                FaultPoint.reached("committing")
                return lost
            }
            try files.finish(&intents)
            return lost
        }
        // This is done after the transaction, because a failed transaction restores the intents that it has deleted.
        self.intents.withLock { $0 = intents }
        return lost
    }

    /// Writes a row. Returns false if the download does not belong to the session any more.
    private func write(
        _ row: SavedRow, of session: String, _ writer: inout RowWriter, _ files: inout SavedFiles,
        _ intents: inout Intents
    ) throws -> Bool {
        switch row {
        case .intent(let file): return try files.intend(file, of: session)
        case .done(let file):
            let isOwned = try files.complete(file, of: session)
            try intents.forget(file.id, isEnded: isOwned, writer.db)
            return isOwned
        case .whole(let row):
            let hadIntent = try intents.forget(row.record.id, isEnded: row.state.isEnded, writer.db)
            return try writer.update(row, ownedBy: session, hadIntent: hadIntent)
        }
    }
}
