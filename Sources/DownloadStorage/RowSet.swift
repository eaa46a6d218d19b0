import DownloadCore

/// Rows of `detail` that an index finds among a million others. The queries name the index. Otherwise SQLite, which has no
/// statistics here, would choose the index of all states.
struct RowSet: CustomStringConvertible {
    let table: String
    /// The condition, written exactly as in the partial index. Otherwise SQLite would not use the index. A query for
    /// `paused` must also compare `session`, because the index leaves out rows without a session.
    let condition: String

    private init(_ index: String, _ condition: String) {
        table = "detail \(index)"
        self.condition = condition
    }

    /// The text that follows FROM in a query.
    var description: String { "\(table) WHERE \(condition)" }

    private static func byState(_ condition: String) -> RowSet {
        RowSet("INDEXED BY detailByState", "\(condition) AND detail.state <> 'completed'")
    }

    static let queued = RowSet("INDEXED BY detailQueued", "detail.state = 'queued'")
    static let atWork = byState("detail.state IN ('running', 'waiting')")
    static let paused = RowSet("INDEXED BY detailPaused", "detail.state = 'paused'")
    static let removed = byState("detail.state = 'removed'")
    /// Completed downloads have no index, because it would cost each file more than a query saves.
    static let ended = RowSet("NOT INDEXED", "detail.state IN ('completed', 'failed', 'cancelled')")

    static func state(_ kind: DownloadState.Kind) -> RowSet {
        kind == .completed
            ? RowSet("NOT INDEXED", "detail.state = 'completed'") : byState("detail.state = '\(kind.rawValue)'")
    }
}
