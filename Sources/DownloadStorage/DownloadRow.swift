import DownloadCore
import Foundation

/// A download with its result as JSON (compare ``DoneRow``). The caller encodes the columns, so that the transaction only
/// binds values.
struct DownloadRow: Sendable {
    let record: DownloadRecord
    let state: DownloadState.Kind
    let updated: Int64
    let stateDetail: String?
    let resume: String?
    let attempts: String?
    let completed: String?
    let url: String
    let request: Request
    /// The record for a hook that is due when the row has been saved; nil if no hook is due.
    let hook: String?

    /// The columns of `request` that a change of the download may replace.
    struct Request: Sendable, Hashable {
        let folder: String
        let askedName: String?
        let document: String
    }

    init(_ record: DownloadRecord, coder: RequestCoder) throws {
        // These values are read from the record once, because each access copies them.
        let (asked, data) = (record.request, record.resume)
        self.record = record
        state = record.state.kind
        updated = Self.milliseconds(record.updated)
        stateDetail = try Self.detail(of: record.state)
        resume = data == ResumeData() ? nil : try JSONText.encode(data)
        attempts = try Self.text(record.attempts.suffix(DownloadRecord.attemptsKept))
        completed = try record.completed.map(JSONText.encode)
        url = asked.url.string
        request = try Request(asked, coder: coder)
        hook = try asked.hooks == nil ? nil : DueHook(record).map { try JSONText.encode($0.record) }
    }

    /// Returns the attempts as JSON; nil if there are none.
    static func text(_ attempts: ArraySlice<AttemptRecord>) throws -> String? {
        attempts.isEmpty ? nil : try JSONText.encode(Array(attempts))
    }

    /// Returns the state as JSON; nil if the kind says everything about the state.
    static func detail(of state: DownloadState) throws -> String? {
        state.kind.state == nil ? try JSONText.encode(state) : nil
    }

    static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000).rounded()) }

    static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension DownloadRow.Request {
    init(_ request: DownloadRequest, coder: RequestCoder) throws {
        let place = request.destination
        self.init(folder: place.folder, askedName: place.fileName, document: try coder.encode(request))
    }
}

extension DownloadState.Kind {
    /// The state of this kind; nil if it has details that the kind does not say.
    var state: DownloadState? {
        switch self {
        case .queued: .queued
        case .running: .running
        case .completed: .completed
        case .cancelled: .cancelled
        case .waiting, .paused, .failed: nil
        }
    }
}

extension DownloadState {
    /// Creates a state from the columns `state` and `stateDetail`. Returns nil if the kind needs details and the
    /// details are missing or of another kind.
    init?(_ kind: Kind, detail: DownloadState?) {
        guard let state = kind.state ?? detail, state.kind == kind else { return nil }
        self = state
    }
}

extension Date {
    /// The date as precisely as the store keeps it, in milliseconds.
    var stored: Date { DownloadRow.date(DownloadRow.milliseconds(self)) }
}
