import DownloadCore
import Foundation
import GRDB

/// A change of the state and the owner of one session's downloads.
struct SessionMove {
    /// The session that owns the downloads; nil for downloads without a session.
    let owner: String?
    /// The exact state that the downloads must have; nil for every state.
    var from: DownloadState?
    let to: DownloadState
    /// The session that owns the downloads after the change; nil for no session.
    let heir: String?

    static let rowsAtOnce = 10_000

    /// Moves up to ``rowsAtOnce`` rows, and logs each. Returns the number of rows that were moved.
    func step(_ rows: RowSet, _ db: Database, at date: Date) throws -> Int {
        var arguments: StatementArguments = [owner]
        if let from { arguments += [try JSONText.encode(from)] }
        let ids: [DownloadID] = try db.values(
            """
            SELECT id FROM \(rows) AND session \(owner == nil ? "IS" : "=") ?
                \(from == nil ? "" : "AND stateDetail = ?") LIMIT \(Self.rowsAtOnce)
            """, arguments)
        if ids.isEmpty { return 0 }
        let time = DownloadRow.milliseconds(date)
        try db.run(
            """
            UPDATE OR FAIL detail SET state = ?, stateDetail = ?, session = ?, speed = NULL, updated = ?
            WHERE id IN (SELECT value FROM json_each(?))
            """, [to.kind.rawValue, DownloadRow.detail(of: to), heir, time, JSONWriter.array(ids)])
        try EventLog(db: db).note(LoggedEvent.Kind(to.kind), of: ids, session: owner, at: time)
        return ids.count
    }
}
