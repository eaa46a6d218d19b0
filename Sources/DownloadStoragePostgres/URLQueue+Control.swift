import DownloadCore

/// The queue as users see and change it.
extension URLQueue {
    /// The most hosts in ``QueueCounts``.
    private static let shownHosts = 20

    package func counts() async throws(DownloadError) -> QueueCounts {
        try await perform { connection throws(PostgresFailure) in
            var counts = QueueCounts()
            counts.isPaused = try connection.run("SELECT is_paused FROM dlm.queue").first?.first == "t"
            for row in try connection.run("SELECT state, count(*), sum(bytes) FROM dlm.item GROUP BY state") {
                let number = row[1].flatMap(Int.init) ?? 0
                switch row[0].flatMap(Int.init).flatMap(RecordedItem.State.init) {
                case .queued: counts.queued = number
                case .leased: counts.leased = number
                case .done:
                    counts.done = number
                    counts.bytes = row[2].flatMap(Int64.init) ?? 0
                case .failed: counts.failed = number
                case .failedForGood: counts.failedForGood = number
                case nil: break
                }
            }
            counts.hosts = try connection.run(
                """
                SELECT h.name, h.queued, coalesce(s.leased, 0), h.workers, h.is_paused FROM dlm.host h
                LEFT JOIN (SELECT host, sum(leased) AS leased FROM dlm.slot GROUP BY host) s ON s.host = h.id
                WHERE h.queued > 0 OR s.leased > 0 OR h.is_paused
                ORDER BY h.is_paused DESC, h.queued + coalesce(s.leased, 0) DESC, h.name LIMIT \(Self.shownHosts)
                """
            ).compactMap { row in
                guard let name = row[0] else { return nil }
                let numbers = row[1...3].map { $0.flatMap(Int.init) ?? 0 }
                return QueueCounts.Host(
                    name: name, queued: numbers[0], leased: numbers[1], workers: numbers[2], isPaused: row[4] == "t")
            }
            counts.workers = try connection.run(
                """
                SELECT w.id, w.name, coalesce(sum(s.leased), 0),
                    extract(epoch FROM w.until - clock_timestamp())::float8
                FROM dlm.worker w LEFT JOIN dlm.slot s ON s.worker = w.id GROUP BY w.id ORDER BY w.id
                """
            ).compactMap { row in
                guard let id = row[0].flatMap(Int64.init), let name = row[1] else { return nil }
                let left = row[3].flatMap(Double.init) ?? 0
                return QueueCounts.Worker(
                    id: id, name: name, leased: row[2].flatMap(Int.init) ?? 0, secondsLeft: (left * 10).rounded() / 10)
            }
            return counts
        }
    }

    private static let columns = "i.id, i.url, i.state, i.attempts, coalesce(w.name, i.worker::text), i.error, i.result"
    private static let rows = "dlm.item i LEFT JOIN dlm.worker w ON w.id = i.worker"

    /// Returns items by their numbers. Unknown numbers are left out.
    package func items(_ ids: [Int64]) async throws(DownloadError) -> [RecordedItem] {
        try await run(
            "SELECT \(Self.columns) FROM \(Self.rows) WHERE i.id = ANY ($1) ORDER BY i.id",
            [PostgresLiteral.array(ids)]
        ).compactMap(RecordedItem.init)
    }

    /// Returns the next items in these states, in the order of their numbers.
    package func items(
        in states: Set<RecordedItem.State>, after id: Int64, limit: Int
    ) async throws(DownloadError) -> [RecordedItem] {
        try await run(
            "SELECT \(Self.columns) FROM \(Self.rows) WHERE i.state = ANY ($1) AND i.id > $2 ORDER BY i.id LIMIT $3",
            [PostgresLiteral.array(states.map(\.rawValue)), "\(id)", "\(limit)"]
        ).compactMap(RecordedItem.init)
    }

    /// Returns the cursor of the newest end that ``ends(after:)`` can return by now.
    package func newestEnd() async throws(DownloadError) -> Int64 {
        Int64(try number(await run("SELECT pg_snapshot_xmin(pg_current_snapshot())"))) - 1
    }

    /// Returns the next recorded ends after a cursor, in the order of the transactions that recorded them. An end is
    /// returned only if no older transaction is still running, so that no end is passed over. The cursor of an end is
    /// the number of its transaction. All ends of a transaction are returned together.
    package func ends(after cursor: Int64) async throws(DownloadError) -> [(cursor: Int64, item: RecordedItem)] {
        try await run(
            """
            SELECT \(Self.columns), i.change FROM \(Self.rows) WHERE i.change > $1::xid8
            AND i.change < pg_snapshot_xmin(pg_current_snapshot()) AND i.state >= 2
            ORDER BY i.change FETCH FIRST \(Self.endsOfPage) ROWS WITH TIES
            """, ["\(cursor)"]
        ).compactMap { row in
            guard let cursor = row.last?.flatMap(Int64.init), let item = RecordedItem(Array(row.dropLast())) else {
                return nil
            }
            return (cursor, item)
        }
    }

    private static let endsOfPage = 1000

    /// Pauses or resumes a host, or the whole queue. While it is paused, no more of its URLs are leased. URLs that are
    /// already leased are still downloaded.
    /// - Returns: false if there is no such host.
    package func pause(_ pauses: Bool, host: String? = nil) async throws(DownloadError) -> Bool {
        try await isTrue("SELECT dlm.pause($1, $2)", [host, pauses ? "t" : "f"])
    }

    /// Puts failed URLs back into the queue.
    /// - Parameters:
    ///   - forGood: whether URLs that failed for good are put back, too.
    ///   - ids: the items; nil for all.
    /// - Returns: The number of URLs that were put back.
    package func retry(forGood: Bool, _ ids: [Int64]? = nil) async throws(DownloadError) -> Int {
        try number(
            await run("SELECT dlm.retry($1, $2)", [forGood ? "t" : "f", ids.map { PostgresLiteral.array($0) }]))
    }
}
