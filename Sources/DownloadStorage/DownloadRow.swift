import DownloadCore
import Foundation
import GRDB

/// One download as its row holds it.
struct DownloadRow: Sendable {
    let record: DownloadRecord
    private let request: String
    private let stateDetail: String?
    private let resume: String?
    private let attempts: String?
    private let completed: String?

    /// Encodes what is only carried: done by the caller, so that the transaction only binds.
    init(_ record: DownloadRecord, coder: RequestCoder) throws {
        self.record = record
        request = try coder.encode(record.request)
        stateDetail = record.state.hasDetail ? try JSONText.encode(record.state) : nil
        resume = record.resume == ResumeData() ? nil : try JSONText.encode(record.resume)
        attempts =
            record.attempts.isEmpty
            ? nil : try JSONText.encode(record.attempts.suffix(DownloadRecord.attemptsKept))
        completed = try record.completed.map(JSONText.encode)
    }

    /// Writes everything, if the row still belongs to `owner`; false when it does not.
    func update(_ db: Database, ownedBy owner: String?) throws -> Bool {
        let present = record.present
        var arguments: StatementArguments = [
            record.session, record.state.kind.rawValue, record.fileName, present.received, present.total,
            record.speed, record.isFinishing, Self.milliseconds(record.updated), request, stateDetail, resume,
            attempts, completed, record.id, owner,
        ]
        let place: StatementArguments = [
            record.request.url.string, record.request.destination.folder, record.request.destination.fileName,
            record.request.priority,
        ]
        let whole = arguments
        arguments += place
        try db.cachedStatement(sql: Self.updateInPlace).execute(arguments: arguments)
        if db.changesCount > 0 { return true }
        try db.cachedStatement(sql: Self.update).execute(arguments: whole)
        guard db.changesCount > 0 else { return false }
        try db.cachedStatement(sql: "UPDATE download SET url = ?, folder = ?, askedName = ?, priority = ? WHERE id = ?")
            .execute(arguments: place + [record.id])
        return true
    }

    private static let update = """
        UPDATE download SET session = ?, state = ?, fileName = ?, received = ?, total = ?, speed = ?, isFinishing = ?,
            updated = ?, request = ?, stateDetail = ?, resume = ?, attempts = ?, completed = ?
        WHERE id = ? AND session IS ?
        """

    /// Where it is found and when it is started rarely change, and SQLite writes the index of every column that an
    /// UPDATE names.
    private static let updateInPlace = update + " AND url = ? AND folder = ? AND askedName IS ? AND priority = ?"

    static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000).rounded()) }

    static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension DownloadState {
    /// The kind alone does not say it all.
    fileprivate var hasDetail: Bool {
        switch self {
        case .queued, .running, .completed, .cancelled: false
        case .waiting, .paused, .failed: true
        }
    }
}

extension Date {
    /// Now, as precisely as the store keeps it.
    static var stored: Date { DownloadRow.date(DownloadRow.milliseconds(Date())) }
}
