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

    /// Makes the row and returns its id.
    func insert(_ db: Database) throws -> DownloadID {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO download (session, state, priority, folder, askedName, url, created, updated, request)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            record.session, record.state.kind.rawValue, record.request.priority,
            record.request.destination.folder, record.request.destination.fileName, record.request.url.string,
            Self.milliseconds(record.created), Self.milliseconds(record.updated), request,
        ])
        return db.lastInsertedRowID
    }

    /// Writes everything, if the row still belongs to `owner`; false when it does not.
    func update(_ db: Database, ownedBy owner: String?) throws -> Bool {
        // Address and priority rarely change, and SQLite writes the index of every column that an UPDATE names.
        if try write(db, ownedBy: owner, "AND url = ? AND folder = ? AND askedName IS ? AND priority = ?", place) {
            return true
        }
        guard try write(db, ownedBy: owner) else { return false }
        try db.cachedStatement(sql: "UPDATE download SET url = ?, folder = ?, askedName = ?, priority = ? WHERE id = ?")
            .execute(arguments: place + [record.id])
        return true
    }

    /// Writes all but ``place``, when `condition` holds as well.
    private func write(
        _ db: Database, ownedBy owner: String?, _ condition: String = "", _ values: StatementArguments = []
    ) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE download SET session = ?, state = ?, fileName = ?, received = ?, total = ?, speed = ?,
                    isFinishing = ?, updated = ?, request = ?, stateDetail = ?, resume = ?, attempts = ?, completed = ?
                WHERE id = ? AND session IS ? \(condition)
                """)
        let progress = DownloadSnapshot(record: record).progress
        let arguments: StatementArguments = [
            record.session, record.state.kind.rawValue, record.fileName, progress.received, progress.total,
            record.speed, record.isFinishing, Self.milliseconds(record.updated), request, stateDetail, resume,
            attempts, completed, record.id, owner,
        ]
        try statement.execute(arguments: arguments + values)
        return db.changesCount > 0
    }

    /// What it is found and started by.
    private var place: StatementArguments {
        let request = record.request
        return [request.url.string, request.destination.folder, request.destination.fileName, request.priority]
    }

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
