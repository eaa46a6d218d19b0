import DownloadCore
import Foundation

/// One download as its row holds it.
struct DownloadRow: Sendable {
    let record: DownloadRecord
    let request: String
    let stateDetail: String?
    let resume: String?
    let attempts: String?
    let completed: String?

    /// Encodes what is only carried: done by the caller, so that the transaction only binds.
    init(_ record: DownloadRecord, coder: RequestCoder) throws {
        self.record = record
        request = try coder.encode(record.request)
        stateDetail = record.state.hasDetail ? try JSONText.encode(record.state) : nil
        resume = record.resume == ResumeData() ? nil : JSONWriter.object(record.resume.write)
        attempts =
            record.attempts.isEmpty ? nil : JSONWriter.attempts(record.attempts.suffix(DownloadRecord.attemptsKept))
        completed = record.completed.map { JSONWriter.object($0.write) }
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
