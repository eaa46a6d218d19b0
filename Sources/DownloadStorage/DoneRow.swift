import DownloadCore
import Foundation
import GRDB

/// The result of a completed item (``ItemAdding``), in columns. Encoding the result as JSON would cost as much as
/// fetching the file.
struct DoneRow: Sendable {
    let record: DownloadRecord
    private let completed: CompletedFile
    private let attempt: AttemptRecord
    private let contentType: String?
    private let acceptsRanges: Bool
    private let hasFinalURL: Bool
    private let metrics: String?

    var id: DownloadID { record.id }

    /// Returns nil if the record contains something for which there is no column. The columns are enough for a file
    /// that came in one attempt with one answer, without redirects, and was not verified by a checksum.
    init?(_ record: DownloadRecord) {
        guard record.state == .completed, !record.isFinishing, record.session == nil, record.attempts.count == 1,
            let completed = record.completed, let attempt = record.attempts.first, let name = record.fileName,
            Self.isPlain(completed), Self.isPlain(attempt), attempt.received == completed.bytes
        else { return nil }
        let (request, resume) = (record.request, record.resume)
        guard request.hooks == nil, FileNaming.isPath(completed.path, of: name, in: request.destination.folder),
            Self.isPlain(resume), resume.finalURL == nil || resume.finalURL == request.url
        else { return nil }
        self.record = record
        self.completed = completed
        self.attempt = attempt
        contentType = resume.contentType
        acceptsRanges = resume.acceptsRanges
        hasFinalURL = resume.finalURL != nil
        metrics = attempt.metrics.map { JSONWriter.object($0.write) }
    }

    private static func isPlain(_ completed: CompletedFile) -> Bool {
        completed.checksum == nil && completed.verifiedBy == nil && completed.mismatched == nil
            && !completed.wasCurrent && completed.identity.inode <= UInt64(Int64.max)
    }

    /// Returns whether the resume data needs no JSON. The fields are compared one by one, because comparing two whole
    /// values costs as much as writing the row.
    private static func isPlain(_ resume: ResumeData) -> Bool {
        guard resume.validators.isEmpty, !resume.validators.lastModifiedIsStrong, resume.total == nil else {
            return false
        }
        guard resume.written.isEmpty, resume.durable.isEmpty, resume.file == nil, resume.modified == nil else {
            return false
        }
        guard resume.device == nil, resume.bootID == nil, resume.mismatched == nil, resume.digest == nil else {
            return false
        }
        guard resume.verified == nil, resume.servedName == nil, resume.contentEncoding == nil else { return false }
        return resume.movedFrom == nil && resume.sources == nil
    }

    private static func isPlain(_ attempt: AttemptRecord) -> Bool {
        attempt.outcome == "completed" && attempt.ended != nil && attempt.connections == 1 && attempt.redirects == 0
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
        try values.bind(record.fileName)
        try values.bind(completed.bytes)
        try values.bind(Int64(completed.identity.inode))
        try values.bind(completed.identity.born)
        try values.bind(completed.modified)
        try values.bind(completed.validators.etag?.opaque)
        try values.bind(completed.validators.etag?.isWeak)
        try values.bind(completed.validators.lastModified)
        try values.bind(completed.validators.lastModifiedIsStrong)
        try values.bind(contentType)
        try values.bind(acceptsRanges)
        try values.bind(hasFinalURL)
        try values.bind(attempt.started.timeIntervalSinceReferenceDate)
        try values.bind(attempt.ended?.timeIntervalSinceReferenceDate)
        try values.bind(DownloadRow.milliseconds(record.updated))
        try values.bind(metrics)
        try statement.execute()
        return db.changesCount > 0
    }
}
