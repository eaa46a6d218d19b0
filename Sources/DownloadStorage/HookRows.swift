import DownloadCore
import GRDB

/// The hooks that must be run. Their rows are inserted in the transaction that ends a download. A row is deleted before
/// the program of its hook is started.
struct HookRows {
    let db: Database

    func isEmpty() throws -> Bool { try Int.fetchOne(db, sql: "SELECT 1 FROM hook LIMIT 1") == nil }

    /// Takes the first hook of the session, or of a dead session.
    func take(for session: String, isAlive: (String) -> Bool) throws -> DueHook? {
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
            // A record that cannot be read runs no hook. Its download reports the damage.
            due = (try? JSONText.decode(DownloadRecord.self, row[2])).flatMap(DueHook.init)
        }
        for id in taken { try db.execute(sql: "DELETE FROM hook WHERE id = ?", arguments: [id]) }
        return due
    }

    /// The statement that inserts the hook of a download that is about to end in the store.
    static let insertion = "INSERT INTO hook (session, record) VALUES (?, ?)"
}
