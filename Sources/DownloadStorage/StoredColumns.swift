import DownloadCore

/// The SQL that reads downloads from the tables `download`, `request` and `detail`.
enum StoredColumns {
    /// The columns that ``RowReader`` reads. They are written out, because making the list from the names of the cases
    /// needs reflection, which takes a millisecond.
    static let all = """
        download.id, CASE WHEN detail.id IS NULL THEN request.session ELSE detail.session END,
        CASE WHEN detail.id IS NULL THEN 'queued' ELSE detail.state END, coalesce(detail.priority, request.priority),
        request.folder, request.askedName, detail.fileName, download.url, detail.speed, detail.isFinishing,
        request.created, CASE WHEN detail.id IS NULL THEN request.created ELSE detail.updated END, request.document,
        detail.stateDetail, detail.resume, detail.attempts, detail.completed, detail.bytes, detail.inode, detail.born,
        detail.modified, detail.etag, detail.etagIsWeak, detail.lastModified, detail.lastModifiedIsStrong,
        detail.contentType, detail.acceptsRanges, detail.hasFinalURL, detail.started, detail.ended, detail.metrics
        """

    /// Every download. A download without a request, which only damage can cause, is shown as damaged.
    static let downloads = """
        download LEFT JOIN request ON request.id = download.request LEFT JOIN detail ON detail.id = download.id
        WHERE detail.state IS NOT 'removed'
        """

    /// Returns the SQL for the downloads whose rows of `detail` are in a set.
    static func downloads(_ rows: RowSet) -> String {
        """
        \(rows.table) CROSS JOIN download ON download.id = detail.id LEFT JOIN request ON request.id = download.request
        WHERE \(rows.condition)
        """
    }

    /// The queued downloads that have no row of `detail`, with ids in a closed range. The two ends are bound parameters.
    static let queued = """
        download LEFT JOIN detail ON detail.id = download.id CROSS JOIN request ON request.id = download.request
        WHERE download.id BETWEEN ? AND ? AND detail.id IS NULL
        """

    /// The downloads with a given file name in a given folder. The folder and the name are bound parameters.
    static let named = """
        request CROSS JOIN download NOT INDEXED
            ON download.id BETWEEN request.first AND request.last AND download.request = request.id
        CROSS JOIN detail ON detail.id = download.id
        WHERE detail.state IS NOT 'removed' AND request.folder = ? AND detail.fileName = ?
        """
}
