import DownloadCore
import Foundation
import GRDB

/// The download that one row contains.
struct StoredDownload: Sendable {
    /// The record. A damaged record is shown as failed, and cannot be resumed.
    let record: DownloadRecord
    /// The state in the column `state`, which decides whether another session may claim the download. If the column
    /// cannot be read, the download counts as running.
    let kind: DownloadState.Kind
    let damage: DownloadError?

    /// - Parameter row: A row with ``StoredColumns/all``.
    init(_ row: Row, coder: RequestCoder) throws {
        let reader = RowReader(row: row)
        do {
            record = try Self.decode(reader, coder: coder)
            kind = record.state.kind
            damage = nil
        } catch let unreadable as RowReader.Damage {
            let id: DownloadID = try reader.value(.id)
            let failure = Self.failure(id, unreadable.column)
            record = Self.remains(reader, id, failure)
            kind = (try? reader.kind()) ?? .running
            damage = failure
        }
    }

    private static func decode(_ reader: RowReader, coder: RequestCoder) throws -> DownloadRecord {
        guard var request = try reader.json(.request, coder.decode), RequestDocument.impossibleField(of: request) == nil
        else {
            throw RowReader.Damage(column: .request)
        }
        request.url = try reader.url()
        request.destination.folder = try reader.value(.folder)
        request.destination.fileName = try reader.optional(.askedName)
        request.priority = try reader.value(.priority)

        var record = DownloadRecord(
            id: try reader.value(.id), request: request, state: try state(reader),
            created: try reader.date(.created))
        record.updated = try reader.date(.updated)
        record.session = try reader.optional(.session)
        record.fileName = try reader.optional(.fileName)
        record.speed = try reader.optional(.speed)
        record.isFinishing = try reader.optional(.isFinishing) ?? false
        record.attempts = try reader.json(.attempts, [AttemptRecord].self) ?? []
        if let bytes: Int64 = try reader.optional(.bytes) {
            try readResult(of: &record, bytes, reader)
        } else {
            record.completed = try reader.json(.completed, CompletedFile.self)
        }
        if let resume = try reader.json(.resume, ResumeData.self) { record.resume = resume }
        if let total = record.resume.total, total < 0 { throw RowReader.Damage(column: .resume) }
        if let file = record.completed, file.bytes < 0 { throw RowReader.Damage(column: .completed) }
        return record
    }

    /// Reads the columns that ``DoneRow`` writes.
    private static func readResult(of record: inout DownloadRecord, _ bytes: Int64, _ reader: RowReader) throws {
        let place = record.request.destination
        guard let name = record.fileName, let inode = UInt64(exactly: try reader.value(.inode, Int64.self)) else {
            throw RowReader.Damage(column: .inode)
        }
        let etag = try reader.optional(.etag, String.self).map {
            EntityTag(opaque: $0, isWeak: try reader.optional(.etagIsWeak) ?? false)
        }
        record.completed = CompletedFile(
            path: FileNaming.path(place.folder, name), bytes: bytes,
            identity: FileIdentity(inode: inode, born: try reader.optional(.born)),
            modified: try reader.value(.modified),
            validators: Validators(
                etag: etag, lastModified: try reader.optional(.lastModified),
                lastModifiedIsStrong: try reader.optional(.lastModifiedIsStrong) ?? false))
        record.resume.finalURL = try reader.optional(.hasFinalURL) ?? false ? record.request.url : nil
        record.resume.contentType = try reader.optional(.contentType)
        record.resume.acceptsRanges = try reader.optional(.acceptsRanges) ?? false
        // A download that is fetched again has no attempt yet.
        guard let started: Double = try reader.optional(.started) else { return }
        var attempt = AttemptRecord(started: Date(timeIntervalSinceReferenceDate: started))
        attempt.ended = Date(timeIntervalSinceReferenceDate: try reader.value(.ended))
        attempt.received = bytes
        attempt.outcome = AttemptRecord.completed
        attempt.metrics = try reader.json(.metrics, StoredMetrics.self)?.metrics
        record.attempts.append(attempt)
    }

    private static func state(_ reader: RowReader) throws -> DownloadState {
        let detail = try reader.json(.stateDetail, DownloadState.self)
        guard let state = DownloadState(try reader.kind(), detail: detail) else {
            throw RowReader.Damage(column: .stateDetail)
        }
        return state
    }

    /// Returns the error for a damaged column. The error tells the user what to do.
    static func failure(_ id: DownloadID, _ column: RowReader.Column) -> DownloadError {
        .unexpected("its record in the store is damaged (\(column)); remove the download")
    }

    /// Returns a record with the readable parts of a damaged row.
    private static func remains(_ reader: RowReader, _ id: DownloadID, _ failure: DownloadError) -> DownloadRecord {
        let url = (try? reader.url()) ?? RequestDocument.placeholder
        let folder: String? = try? reader.value(.folder)
        var request = DownloadRequest(url: url, destination: Destination(folder: folder ?? "/"))
        request.destination.fileName = try? reader.optional(.askedName)
        let created = try? reader.date(.created)
        var record = DownloadRecord(
            id: id, request: request, state: .failed(failure), created: created ?? Date(timeIntervalSince1970: 0))
        record.updated = (try? reader.date(.updated)) ?? record.created
        record.session = try? reader.optional(.session)
        record.fileName = try? reader.optional(.fileName)
        return record
    }
}
