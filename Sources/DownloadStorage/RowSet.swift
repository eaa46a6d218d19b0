import DownloadCore

/// Rows that an index finds among a million others. It is named in the queries: without statistics SQLite would take
/// the index of all states.
struct RowSet: CustomStringConvertible {
    let table: String
    /// As in the partial index, which only a query with these very words may use.
    let condition: String

    private init(_ index: String, _ condition: String) {
        table = "download INDEXED BY \(index)"
        self.condition = condition
    }

    /// What follows FROM.
    var description: String { "\(table) WHERE \(condition)" }

    static let queued = RowSet("downloadQueued", "state = 'queued'")
    static let atWork = RowSet("downloadByState", "state IN ('running', 'waiting')")
    static let paused = RowSet("downloadPaused", "state = 'paused'")
    static let ended = RowSet("downloadEnded", "(state = 'completed' OR state = 'failed' OR state = 'cancelled')")

    static func state(_ kind: DownloadState.Kind) -> RowSet { RowSet("downloadByState", "state = '\(kind.rawValue)'") }
}
