import DownloadCore
import Foundation

/// The queue as users see and change it.
extension URLQueue {
    private static let shownHosts = 20

    package func counts() async throws(DownloadError) -> QueueCounts {
        let rows = try await run(
            """
            SELECT row_to_json(counts) FROM (SELECT
                (SELECT is_paused FROM dlm.queue) AS "isPaused",
                count(*) FILTER (WHERE state = 0) AS queued, count(*) FILTER (WHERE state = 1) AS leased,
                count(*) FILTER (WHERE state = 2) AS done, count(*) FILTER (WHERE state = 3) AS failed,
                count(*) FILTER (WHERE state = 4) AS "failedForGood",
                coalesce(sum(bytes) FILTER (WHERE state = 2), 0) AS bytes,
                (SELECT coalesce(json_agg(shown), '[]') FROM (
                    SELECT h.name, h.queued, coalesce(s.leased, 0) AS leased, h.workers, h.is_paused AS "isPaused"
                    FROM dlm.host h
                    LEFT JOIN (SELECT host, sum(leased) AS leased FROM dlm.slot GROUP BY host) s ON s.host = h.id
                    WHERE h.queued > 0 OR s.leased > 0 OR h.is_paused
                    ORDER BY h.is_paused DESC, h.queued + coalesce(s.leased, 0) DESC, h.name
                    LIMIT \(Self.shownHosts)) shown) AS hosts,
                (SELECT coalesce(json_agg(worker), '[]') FROM (
                    SELECT w.id, w.name, coalesce(sum(s.leased), 0) AS leased,
                        round(extract(epoch FROM w.until - clock_timestamp())::numeric, 1) AS "secondsLeft"
                    FROM dlm.worker w LEFT JOIN dlm.slot s ON s.worker = w.id
                    GROUP BY w.id ORDER BY w.id) worker) AS workers
                FROM dlm.item) counts
            """)
        guard let text = rows.first?.first ?? nil,
            let counts = try? JSONDecoder().decode(QueueCounts.self, from: Data(text.utf8))
        else { throw PostgresFailure(.other, "the answer of the queue is not JSON").error(at: location) }
        return counts
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

    /// Puts failed URLs back into the queue: those in `ids`, or all. Returns their number.
    /// - Parameter forGood: whether URLs that failed for good are put back, too.
    package func retry(forGood: Bool, _ ids: [Int64]? = nil) async throws(DownloadError) -> Int {
        try number(
            await run("SELECT dlm.retry($1, $2)", [forGood ? "t" : "f", ids.map { PostgresLiteral.array($0) }]))
    }
}
