import DownloadCore
import Foundation
import GRDB

/// Hooks that are due: rows made in the transaction that ends a download, and deleted before their programs are begun.
extension SQLiteDownloadStore {
    package func takeHook(session: String) async throws -> DueHook? {
        // There is seldom any, and reading waits for no other process.
        if try await perform({ try Int.fetchOne($0, sql: "SELECT 1 FROM hook LIMIT 1") }) == nil { return nil }
        // Not to be run again after a loss of power either.
        return try await write(durably: true) { [isAlive] db in
            var answers: [String: Bool] = [:]
            func isFree(_ owner: String) -> Bool {
                if owner == session { return true }
                let lives = answers[owner] ?? isAlive(owner)
                answers[owner] = lives
                return !lives
            }
            let rows = try Row.fetchCursor(db, sql: "SELECT id, session, record FROM hook ORDER BY id")
            var taken: [Int64] = []
            var due: DueHook?
            while due == nil, let row = try rows.next() {
                guard isFree(row[1]) else { continue }
                taken.append(row[0])
                // A record that nobody can read is no hook to run; its download tells of the damage.
                due = (try? JSONText.decode(DownloadRecord.self, row[2])).flatMap(DueHook.init)
            }
            for id in taken { try db.execute(sql: "DELETE FROM hook WHERE id = ?", arguments: [id]) }
            return due
        }
    }

    /// Makes the row of a download that is about to end in the store; one that has ended before, or that another session
    /// owns, has none.
    static let hookDue = """
        INSERT INTO hook (session, record) SELECT session, ?1 FROM download WHERE id = ?2 AND session IS ?3 AND state <> ?4
        """
}
