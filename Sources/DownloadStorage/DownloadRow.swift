import DownloadCore
import Foundation

/// The columns of one download, with its result as JSON (compare ``DoneRow``). They are encoded by the caller, so that the
/// transaction only binds values.
struct DownloadRow: Sendable {
    let id: DownloadID
    let session: String?
    let state: DownloadState.Kind
    let fileName: String?
    let received: Int64
    let total: Int64?
    let speed: Double?
    let isFinishing: Bool
    let updated: Int64
    let stateDetail: String?
    let resume: String?
    let attempts: String?
    let completed: String?
    let url: String
    let priority: Int
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
        // These values are read from the record once, because they are boxed, and each access to a box copies its
        // value.
        let (asked, data, present) = (record.request, record.resume, record.present)
        id = record.id
        session = record.session
        state = record.state.kind
        fileName = record.fileName
        (received, total) = present
        speed = record.speed
        isFinishing = record.isFinishing
        updated = Self.milliseconds(record.updated)
        stateDetail = try Self.detail(of: record.state)
        resume = data == ResumeData() ? nil : try JSONText.encode(data)
        attempts = try Self.text(record.attempts.suffix(DownloadRecord.attemptsKept))
        completed = try record.completed.map(JSONText.encode)
        url = asked.url.string
        priority = asked.priority
        request = try Request(asked, coder: coder)
        hook = try asked.hooks == nil ? nil : DueHook(record).map { try JSONText.encode($0.record) }
    }

    /// Returns the attempts as JSON; nil if there are none.
    static func text(_ attempts: ArraySlice<AttemptRecord>) throws -> String? {
        attempts.isEmpty ? nil : try JSONText.encode(Array(attempts))
    }

    /// Returns the state as JSON; nil if the kind says everything about the state.
    static func detail(of state: DownloadState) throws -> String? {
        state.hasDetail ? try JSONText.encode(state) : nil
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

extension DownloadState {
    /// Whether the state has details that its kind does not say.
    fileprivate var hasDetail: Bool {
        switch self {
        case .queued, .running, .completed, .cancelled: false
        case .waiting, .paused, .failed: true
        }
    }
}

extension Date {
    /// The date as precisely as the store keeps it, in milliseconds.
    var stored: Date { DownloadRow.date(DownloadRow.milliseconds(self)) }
}
