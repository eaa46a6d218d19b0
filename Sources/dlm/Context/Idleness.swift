import DownloadKit

/// When the watching of everything is over: nothing is at work, and nothing will be by itself. Pure.
struct Idleness {
    /// A background session that is being started again needs no longer.
    private static let grace = Duration.seconds(10)

    /// The states in which something may still happen by itself.
    static let states: Set<DownloadState.Kind> = [.queued, .running, .waiting, .paused]

    private var wasBusy = false
    private var since: ContinuousClock.Instant?

    mutating func isBusy() {
        wasBusy = true
        since = nil
    }

    /// - Parameter left: downloads in one of ``states``.
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

    /// It goes on once its background session does.
    static func isInterrupted(_ snapshot: DownloadSnapshot) -> Bool {
        guard snapshot.record.session != nil, !snapshot.isAttended else { return false }
        return snapshot.record.state.kind.isActive
            || snapshot.record.state.kind == .paused && snapshot.record.state != .paused(.user)
    }
}
