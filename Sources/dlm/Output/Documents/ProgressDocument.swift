import DownloadKit
import Foundation

/// The progress of a download (`--progress json`). The last document of a download has the state in which it ended.
struct ProgressDocument: Document, Equatable {
    var version = 1
    var event = "progress"
    let id: DownloadID
    let state: String
    let name: String
    let received: Int64
    let total: Int64?
    let percent: Int?
    let speed: Double?
    let secondsLeft: Double?
    let note: String?
    let waitingFor: String?
    let waitingUntil: Date?

    init(_ row: ProgressFrame.Row) {
        id = row.id
        state = row.state.rawValue
        name = row.name
        received = row.received
        total = row.total
        percent = Units.percent(row.received, of: row.total)
        speed = row.speed.map { $0.rounded() }
        secondsLeft = row.left.map { ($0 * 10).rounded() / 10 }
        note = row.note == row.state.rawValue ? nil : row.note
        (waitingFor, waitingUntil) = row.progress.state.waiting
    }
}

/// The progress of several downloads together (`--progress json`).
struct TotalDocument: Document, Equatable {
    var version = 1
    var event = "total"
    let downloads: Int
    let done: Int
    let failed: Int
    let cancelled: Int
    let received: Int64
    let total: Int64?
    let percent: Int?
    let speed: Double?
    let secondsLeft: Double?

    init(_ total: ProgressFrame.Total) {
        downloads = total.downloads
        done = total.done
        failed = total.failed + total.cancelled
        cancelled = total.cancelled
        received = total.received
        self.total = total.bytes
        percent = Units.percent(total.received, of: total.bytes)
        speed = total.speed.map { $0.rounded() }
        secondsLeft = total.left.map { ($0 * 10).rounded() / 10 }
    }
}
