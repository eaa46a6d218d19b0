import DownloadKit

/// A change while `get --json` or `resume --json` works; the end of a download is a ``FinishedDocument``.
struct EventDocument: Document, Equatable {
    var version = 1
    /// `added`, `started`, `restarted`, `retry`, `paused`, `joined` or `removed`.
    let event: String
    let id: DownloadID
    let state: String
    let name: String
    let url: String
    let received: Int64
    let total: Int64?
    /// Where it goes on from, for `started`.
    let offset: Int64?
    /// Why, for `restarted`.
    let reason: String?
    let error: ErrorDocument?

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
        error = StateText.error(snapshot.record.state).map(ErrorDocument.init)
    }

    /// Nil for the end of a download.
    init?(_ event: DownloadEvent) {
        switch event {
        case .didAdd(let snapshot): self.init("added", snapshot)
        case .didStart(let snapshot, let offset): self.init("started", snapshot, offset: offset)
        case .didRestart(let snapshot, let why): self.init("restarted", snapshot, reason: why)
        case .willRetry(let snapshot, _): self.init("retry", snapshot)
        case .didPause(let snapshot): self.init("paused", snapshot)
        case .didResume(let snapshot): self.init("resumed", snapshot)
        case .didRemove(let snapshot): self.init("removed", snapshot)
        case .didChange(let snapshot): self.init("changed", snapshot)
        case .didCancel, .didComplete, .didFail: return nil
        }
    }
}
