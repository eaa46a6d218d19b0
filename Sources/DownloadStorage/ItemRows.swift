import DownloadCore
import GRDB

/// The SQL that gives items the columns of the table `download`, so that ``RowReader`` can read both.
enum ItemRows {
    /// The columns that ``RowReader`` reads, taken from the tables `item`, `list` and `done`.
    static let columns = """
        item.id, CASE WHEN done.id IS NULL THEN list.session END,
        CASE WHEN done.id IS NULL THEN 'queued' ELSE 'completed' END, list.priority, list.folder, list.askedName,
        done.fileName, item.url, NULL, 0, list.created, coalesce(done.updated, list.created),
        list.request, NULL, \(resume), \(attempts), \(completed)
        """

    /// The item with a given id, if it has not become a row of `download`. The id is a bound parameter.
    static let byID = "\(all) AND item.id = ?"

    /// Every item that has not become a row of `download`.
    static let all = """
        item CROSS JOIN list ON list.id = item.list LEFT JOIN done ON done.id = item.id WHERE done.isMoved IS NOT 1
        """

    /// The queued items whose ids are in a closed range. The two ends of the range are bound parameters.
    static let queued = """
        item CROSS JOIN list ON list.id = item.list LEFT JOIN done ON done.id = item.id
        WHERE item.id BETWEEN ? AND ? AND done.id IS NULL
        """

    static let done = """
        done CROSS JOIN item ON item.id = done.id CROSS JOIN list ON list.id = item.list WHERE done.isMoved = 0
        """

    /// The completed items with a given name in a given folder. The folder and the name are bound parameters.
    static let named = """
        list CROSS JOIN done NOT INDEXED ON done.id BETWEEN list.first AND list.last CROSS JOIN item ON item.id = done.id
        WHERE done.isMoved = 0 AND list.folder = ? AND done.fileName = ?
        """

    /// The part of ``ResumeData`` that is kept after the completion, as ``DownloadRow`` would write it.
    private static let resume = """
        CASE WHEN done.id IS NOT NULL THEN json_object('validators', json_object('lastModifiedIsStrong', json('false')),
            'finalURL', CASE WHEN done.hasFinalURL THEN item.url END, 'contentType', done.contentType,
            'acceptsRanges', \(flag("done.acceptsRanges")), 'written', json('[]'), 'durable', json('[]')) END
        """

    private static let attempts = """
        CASE WHEN done.id IS NOT NULL THEN json_array(json_object('started', done.started, 'ended', done.ended,
            'received', done.bytes, 'connections', 1, 'redirects', 0, 'metrics', \(metrics),
            'outcome', 'completed')) END
        """

    /// The metrics with names. Stores of earlier versions have them with names already.
    private static let metrics = """
        CASE WHEN json_type(done.metrics) = 'array' THEN json_object(\(metricsFields)) ELSE json(done.metrics) END
        """

    private static let metricsFields: String = [
        "remoteAddress", "remotePort", "httpVersion", "status", "reusedConnection", "nameLookup", "connect", "tls",
        "firstByte", "total", "received",
    ].enumerated().map { index, name -> String in
        let element = "json_extract(done.metrics, '$[\(index)]')"
        return "'\(name)', \(name == "reusedConnection" ? flag(element) : element)"
    }.joined(separator: ", ")

    private static let completed = """
        CASE WHEN done.id IS NOT NULL THEN json_object(
            'path', list.folder || CASE WHEN substr(list.folder, -1) IN ('/', '') THEN '' ELSE '/' END || done.fileName,
            'bytes', done.bytes, 'identity', json_object('inode', done.inode, 'born', done.born),
            'modified', done.modified,
            'validators', json_object(
                'etag', CASE WHEN done.etag IS NOT NULL
                    THEN json_object('isWeak', \(flag("done.etagIsWeak")), 'opaque', done.etag) END,
                'lastModified', done.lastModified,
                'lastModifiedIsStrong', \(flag("done.lastModifiedIsStrong"))),
            'wasCurrent', json('false')) END
        """

    private static func flag(_ column: String) -> String {
        "json(CASE WHEN \(column) THEN 'true' ELSE 'false' END)"
    }
}

/// The hash by which items are found. An index of numbers is smaller and cheaper to write than an index of URLs. Two
/// URLs may have the same hash, so the caller compares the URLs.
enum ItemHash {
    /// The number of bits of a hash.
    static let bits: Int64 = 40

    /// Returns the lower bits of the FNV-1a hash of the bytes. The function must never change, because stores keep the
    /// hashes.
    static func of(_ url: String) -> Int64 {
        var url = url
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        url.withUTF8 { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 } }
        return Int64(hash & (1 << bits - 1))
    }
}
