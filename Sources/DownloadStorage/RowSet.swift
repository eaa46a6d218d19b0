import DownloadCore

/// Rows that an index finds among a million others. The queries name the index. Otherwise SQLite, which has no
/// statistics here, would choose the index of all states.
struct RowSet: CustomStringConvertible {
    let table: String
    /// The condition, written exactly as in the partial index. Otherwise SQLite would not use the index. A query for
    /// `paused` must also compare `session`, because the index leaves out rows without a session.
    let condition: String

    private init(_ index: String, _ condition: String) {
        table = "download INDEXED BY \(index)"
        self.condition = condition
    }

    /// The text that follows FROM in a query.
    var description: String { "\(table) WHERE \(condition)" }

    static let queued = RowSet("downloadQueued", "state = 'queued'")
    static let atWork = RowSet("downloadByState", "state IN ('running', 'waiting')")
    static let paused = RowSet("downloadPaused", "state = 'paused'")
    static let ended = RowSet("downloadEnded", "(state = 'completed' OR state = 'failed' OR state = 'cancelled')")

    static func state(_ kind: DownloadState.Kind) -> RowSet { RowSet("downloadByState", "state = '\(kind.rawValue)'") }
}
