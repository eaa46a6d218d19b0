import DownloadCore
import Foundation

/// The result of a small file, in columns of `detail`. Encoding the result as JSON would cost as much as fetching the file.
enum DoneRow {
    /// Returns false if the download has something for which there is no column, or a hook, or has not ended.
    static func suits(_ file: SmallFile) -> Bool {
        guard let completed = file.completed, file.ended != nil else { return false }
        let request = file.entry.common.request
        return completed.bytes == file.size && completed.checksum == nil
            && completed.identity.inode <= UInt64(Int64.max) && request.hooks == nil
            && FileNaming.isPath(completed.path, of: file.name, in: request.destination.folder)
    }

    static let insertion = """
        INSERT OR REPLACE INTO detail (state, received, total, isFinishing, id, priority, fileName, bytes, inode, born,
            modified, etag, etagIsWeak, lastModified, lastModifiedIsStrong, contentType, acceptsRanges, hasFinalURL,
            started, ended, updated, metrics, attempts)
        VALUES ('completed', ?4, ?4, 0, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
        """

    /// Writes the row with ``insertion``. The download must belong to the session that saves the file.
    /// - Returns: The time of the end, in milliseconds since 1970.
    static func write(_ file: SmallFile, _ statement: inout RowStatement) throws -> Int64 {
        // Both are there (see ``suits(_:)``). Copies of them beside the file would make each copy of the row slower.
        guard let completed = file.completed, let ended = file.ended else { return 0 }
        let updated = DownloadRow.milliseconds(ended)
        statement.bind(file.id.rawValue)
        statement.bind(file.entry.priority)
        statement.bind(file.name)
        statement.bind(completed.bytes)
        statement.bind(Int64(completed.identity.inode))
        statement.bind(completed.identity.born)
        statement.bind(completed.modified)
        statement.bind(completed.validators.etag?.opaque)
        statement.bind(completed.validators.etag?.isWeak)
        statement.bind(completed.validators.lastModified)
        statement.bind(completed.validators.lastModifiedIsStrong)
        statement.bind(file.answer.contentType)
        statement.bind(file.answer.acceptsRanges)
        statement.bind(file.showsURL)
        statement.bind(file.began.timeIntervalSinceReferenceDate)
        statement.bind(file.written.timeIntervalSinceReferenceDate)
        statement.bind(updated)
        statement.bind(file.metrics.map { metrics in JSONWriter.text { $0.array(metrics.writeElements) } })
        statement.bind(try DownloadRow.text(file.entry.common.attempts.suffix(DownloadRecord.attemptsKept - 1)))
        _ = try statement.execute()
        return updated
    }
}
