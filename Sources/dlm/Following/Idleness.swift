import DownloadKit

/// The rule that ends a `dlm watch` without given downloads: no download runs, and none will start without a command.
struct Idleness {
    /// The time for which `dlm watch` waits for the restart of a background session.
    private static let grace = Duration.seconds(10)

    /// The states of downloads that run, or that may start by themselves.
    static let states: Set<DownloadState.Kind> = [.queued, .running, .waiting, .paused]

    private var wasBusy = false
    private var since: ContinuousClock.Instant?

    mutating func isBusy() {
        wasBusy = true
        since = nil
    }

    /// Returns whether `dlm watch` ends. `left` has the downloads in one of ``states``.
    mutating func isOver(_ left: [DownloadSnapshot], now: ContinuousClock.Instant) -> Bool {
        if left.contains(where: { $0.isAttended && $0.record.state.kind.isActive }) {
            isBusy()
            return false
        }
        guard wasBusy, left.contains(where: Self.isInterrupted) else { return true }
        let start = since ?? now
        since = start
        return now - start >= Self.grace
    }

    /// Returns whether the end of its session interrupted the download, which resumes when that session starts again.
    static func isInterrupted(_ snapshot: DownloadSnapshot) -> Bool {
        guard snapshot.record.session != nil, !snapshot.isAttended else { return false }
        return snapshot.record.state.kind.isActive
            || snapshot.record.state.kind == .paused && snapshot.record.state != .paused(.user)
    }
}
