import DownloadCore
import Foundation
import GRDB

/// The result of a completed item (``ItemAdding``), in columns. Encoding the result as JSON would cost as much as
/// fetching the file.
struct DoneRow: Sendable {
    private let file: SmallFile
    private let completed: CompletedFile
    private let ended: Date

    var id: DownloadID { file.id }
    var record: DownloadRecord { file.record }
    var updated: Int64 { DownloadRow.milliseconds(ended) }

    /// Returns nil if the download has something for which there is no column, or has not ended.
    init?(_ file: SmallFile) {
        guard let completed = file.completed, let ended = file.ended, file.entry.common.attempts.isEmpty,
            completed.bytes == file.size, completed.identity.inode <= UInt64(Int64.max)
        else { return nil }
        self.file = file
        self.completed = completed
        self.ended = ended
    }

    static let insertion = """
        INSERT OR IGNORE INTO done (id, isMoved, fileName, bytes, inode, born, modified, etag, etagIsWeak,
            lastModified, lastModifiedIsStrong, contentType, acceptsRanges, hasFinalURL, started, ended, updated,
            metrics)
        SELECT ?1, 0, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17
        WHERE EXISTS (SELECT 1 FROM item WHERE id = ?1)
        """

    /// Writes the row with ``insertion``. Returns false if the item has become a row of `download`, or is already
    /// completed.
    func write(_ statement: Statement, _ db: Database) throws -> Bool {
        var values = BoundValues(statement)
        try values.bind(id)
        try values.bind(file.name)
        try values.bind(completed.bytes)
        try values.bind(Int64(completed.identity.inode))
        try values.bind(completed.identity.born)
        try values.bind(completed.modified)
        try values.bind(completed.validators.etag?.opaque)
        try values.bind(completed.validators.etag?.isWeak)
        try values.bind(completed.validators.lastModified)
        try values.bind(completed.validators.lastModifiedIsStrong)
        try values.bind(file.answer.contentType)
        try values.bind(file.answer.acceptsRanges)
        try values.bind(file.showsURL)
        try values.bind(file.began.timeIntervalSinceReferenceDate)
        try values.bind(file.written.timeIntervalSinceReferenceDate)
        try values.bind(updated)
        try values.bind(file.metrics.map { JSONWriter.object($0.write) })
        try statement.execute()
        return db.changesCount > 0
    }
}
