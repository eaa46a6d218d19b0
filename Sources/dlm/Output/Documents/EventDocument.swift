import DownloadKit
import Foundation

/// A change of a download, for the commands that follow or change downloads. Commands that follow downloads print a
/// ``FinishedDocument`` for the end of a download.
struct EventDocument: Document, Equatable {
    var version = 1
    /// The event: `added`, `joined`, `started`, `restarted`, `retry`, `postponed`, `paused`, `resumed`, `cancelled`,
    /// `changed`, `limit`, `removed`, or `unchanged` if there was nothing to do.
    let event: String
    let id: DownloadID
    let state: String
    let name: String
    let url: String
    let received: Int64
    let total: Int64?
    /// The offset at which the download starts, in bytes, for `started`.
    let offset: Int64?
    /// The reason, for `restarted` and `unchanged`.
    let reason: String?
    /// The session that runs the download.
    let session: String?
    let priority: Int?
    /// The speed limit in bytes per second; nil for no limit.
    let rateLimit: Int64?
    let error: ErrorDocument?
    let waitingFor: String?
    let waitingUntil: Date?

    init(_ event: String, _ snapshot: DownloadSnapshot, offset: Int64? = nil, reason: String? = nil) {
        self.event = event
        id = snapshot.id
        state = snapshot.record.state.kind.rawValue
        name = snapshot.record.displayName
        url = snapshot.record.request.url.string
        received = snapshot.progress.received
        total = snapshot.progress.total
        self.offset = offset
        self.reason = reason
        session = snapshot.record.session
        priority = snapshot.record.request.priority
        rateLimit = snapshot.record.request.rateLimit
        error = snapshot.record.state.error.map(ErrorDocument.init)
        (waitingFor, waitingUntil) = snapshot.record.state.waiting
    }

    /// Creates the document for a change in this process. Returns nil for the end of a download.
    init?(_ event: DownloadEvent) {
        switch event {
        case .didAdd(let snapshot): self.init("added", snapshot)
        case .didStart(let snapshot, let offset): self.init("started", snapshot, offset: offset)
        case .didRestart(let snapshot, let why): self.init("restarted", snapshot, reason: why)
        case .willRetry(let snapshot, _): self.init("retry", snapshot)
        case .didPostpone(let snapshot): self.init("postponed", snapshot)
        case .didPause(let snapshot): self.init("paused", snapshot)
        case .didResume(let snapshot): self.init("resumed", snapshot)
        case .didRemove(let snapshot): self.init("removed", snapshot)
        case .didChange(let snapshot): self.init("changed", snapshot)
        case .didCancel, .didComplete, .didFail: return nil
        }
    }

    /// Creates the document for a change by another process. Returns nil for the end of a download.
    init?(_ logged: LoggedEvent) {
        switch logged.kind {
        case .waiting: event = logged.state?.error == nil ? "postponed" : "retry"
        case .completed, .failed, .cancelled: return nil
        case .added, .resumed, .started, .restarted, .paused, .removed, .changed: event = logged.kind.rawValue
        }
        id = logged.id
        state = logged.state?.kind.rawValue ?? logged.kind.rawValue
        name = logged.name
        url = logged.url
        received = logged.received
        total = logged.total
        offset = nil
        reason = nil
        session = logged.session
        priority = nil
        rateLimit = nil
        error = logged.state?.error.map(ErrorDocument.init)
        (waitingFor, waitingUntil) = logged.state?.waiting ?? (nil, nil)
    }
}
