import DownloadKit
import Foundation

/// A row of `dlm list`.
struct ListDocument: Document, Equatable {
    var version = 1
    let id: DownloadID
    let state: String
    let name: String
    let url: String
    let path: String?
    /// Bytes present.
    let received: Int64
    let total: Int64?
    let percent: Int?
    /// Bytes per second.
    let speed: Double?
    let secondsLeft: Double?
    /// Why it is where it is, for people.
    let note: String?
    let error: ErrorDocument?
    let priority: Int
    let created: Date
    let updated: Date

    init(_ snapshot: DownloadSnapshot, now: Date = Date()) {
        let record = snapshot.record
        let progress = snapshot.progress
        id = record.id
        state = record.state.kind.rawValue
        name = record.displayName
        url = record.request.url.string
        path = record.completed?.path ?? record.finalPath
        received = progress.received
        total = progress.total
        percent = Units.percent(progress.received, of: progress.total)
        speed = progress.speed
        secondsLeft = TimeLeft.seconds(received: progress.received, total: progress.total, speed: progress.speed)
        note = StateText.note(record.state, now: now)
        error = StateText.error(record.state).map(ErrorDocument.init)
        priority = record.request.priority
        created = record.created
        updated = record.updated
    }
}
