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
    /// What became of the file of a completed download: `there`, `gone` or `changed`.
    let file: String?
    /// The number of bytes that have been fetched.
    let received: Int64
    let total: Int64?
    let percent: Int?
    /// The speed in bytes per second.
    let speed: Double?
    let secondsLeft: Double?
    /// The reason for the state, the time at which the download ended, or both, as text for the user.
    let note: String?
    let error: ErrorDocument?
    /// What a waiting download waits for: `retry`, `network` or `schedule`.
    let waitingFor: String?
    /// The time when a waiting download continues, if it is known.
    let waitingUntil: Date?
    let priority: Int
    /// The session of the download. ``isAttended`` is true if this session runs. Without a session, both values are
    /// nil.
    let session: String?
    let isAttended: Bool?
    /// The time at which the download ended.
    let ended: Date?
    /// The time that all attempts took together, in seconds.
    let seconds: Double?
    let created: Date
    let updated: Date

    /// - Parameters:
    ///   - isHistory: Whether the note of a failed download also says when the download ended.
    ///   - fate: What became of the file of a completed download; nil if it is not known.
    init(
        _ snapshot: DownloadSnapshot, isHistory: Bool = false, fate: CompletedFileFate? = nil, now: Date
    ) {
        let record = snapshot.record
        file = fate?.rawValue
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
        session = record.session
        isAttended = record.session.map { _ in snapshot.isAttended }
        let hasEnded = [.completed, .failed, .cancelled].contains(record.state.kind)
        ended = hasEnded ? record.updated : nil
        let seconds = record.attempts.isEmpty ? nil : record.seconds
        self.seconds = seconds
        let end = isHistory || record.state.kind != .failed ? ended.map { StateText.end($0, seconds: seconds) } : nil
        let why =
            Idleness.isInterrupted(snapshot)
            ? StandingText.interrupted : StateText.note(fate) ?? StateText.note(record.state, now: now)
        note = hasEnded ? [why, end].compactMap(\.self).joined(separator: "; ") : why
        error = record.state.error.map(ErrorDocument.init)
        (waitingFor, waitingUntil) = record.state.waiting
        priority = record.request.priority
        created = record.created
        updated = record.updated
    }
}
