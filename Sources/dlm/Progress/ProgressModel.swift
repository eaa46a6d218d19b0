import DownloadKit
import Foundation

/// The maker of a ``ProgressFrame``, with the measured speeds and the progress of downloads in other processes.
struct ProgressModel {
    private struct Meters {
        var speed = SpeedMeter()
        var left = TimeLeftMeter()

        mutating func add(time: Double, bytes: Int64, remaining: Int64?) {
            speed.add(time: time, bytes: bytes)
            left.add(time: time, bytes: bytes, remaining: remaining)
        }

        /// The time left, in seconds; nil while the download makes no progress.
        var secondsLeft: Double? { speed.speed ?? 0 > 0 ? left.left : nil }
    }

    private var meters: [DownloadID: Meters] = [:]
    private var totals = Meters()
    private var elsewhere: [DownloadID: DownloadProgress] = [:]
    private var failures: [ProgressFrame.Row] = []

    /// The most failed downloads that are kept. Of other processes' downloads beyond it, only active ones are kept.
    private static let rows = 64

    mutating func update(_ progress: DownloadProgress) {
        if elsewhere.count >= Self.rows, ![.running, .waiting].contains(progress.state.kind) {
            elsewhere[progress.id] = nil
        } else {
            elsewhere[progress.id] = progress
        }
    }

    mutating func forget(_ id: DownloadID) {
        elsewhere[id] = nil
        meters[id] = nil
    }

    /// Keeps the row of a failed download, which is shown after the active ones if there is no room for all rows.
    mutating func fail(_ snapshot: DownloadSnapshot) {
        guard let error = snapshot.record.state.error, snapshot.record.state.kind == .failed else { return }
        failures.removeAll { $0.id == snapshot.id }
        failures.insert(ProgressFrame.Row(snapshot.progress, note: Redaction.describe(error)), at: 0)
        if failures.count > Self.rows { failures.removeLast() }
    }

    /// - Parameter time: The time of a monotonic clock, in seconds.
    mutating func frame(_ here: [DownloadProgress], _ ledger: inout Ledger, time: Double, now: Date) -> ProgressFrame {
        let own = here.filter { ledger.here.contains($0.id) }
        let all = own + elsewhere.values.filter { ledger.elsewhere.contains($0.id) }
        var received = ledger.tally.completedBytes
        var fetched = ledger.tally.fetchedBytes
        var bytes: Int64? = ledger.tally.completedBytes
        for progress in all {
            received = received.adding(progress.received)
            let offset = ledger.offset(of: progress.id, received: progress.received)
            fetched = fetched.adding(max(0, progress.received.subtracting(offset)))
            bytes = progress.total.flatMap { total in bytes.map { $0.adding(total) } }
            if progress.state.kind == .running {
                meters[progress.id, default: Meters()].add(
                    time: time, bytes: progress.received,
                    remaining: progress.total.map { $0.subtracting(progress.received) })
            } else {
                meters[progress.id] = nil
            }
        }
        let queued = max(0, ledger.count - ledger.tally.completed - ledger.failures.count - all.count)
        if !ledger.hasAll || queued > 0 { bytes = nil }
        totals.add(time: time, bytes: fetched, remaining: bytes?.subtracting(received))
        let rows = all.sorted { Self.rank($0) < Self.rank($1) }.map { row($0, now) }
        guard ledger.count > 1 || !ledger.hasAll && ledger.count > 0 else { return ProgressFrame(rows: rows) }
        let total = ProgressFrame.Total(
            downloads: ledger.count, done: ledger.tally.completed,
            failed: ledger.failures.count - ledger.failures.cancelled,
            cancelled: ledger.failures.cancelled, received: received, bytes: bytes, speed: totals.speed.speed,
            left: secondsLeft(rows, now))
        return ProgressFrame(rows: rows, failures: failures, queued: queued, total: total)
    }

    /// Returns the time until all downloads are done, in seconds. It is the time for all bytes together, but at least
    /// the time of the slowest download. For a waiting download, it is the rest of the wait, and then the time for its
    /// bytes at the speed of all downloads together. Returns nil if the speed or the end of a wait is unknown.
    private func secondsLeft(_ rows: [ProgressFrame.Row], _ now: Date) -> Double? {
        guard var left = totals.secondsLeft, let speed = totals.speed.speed else { return nil }
        for row in rows {
            if row.state == .waiting {
                guard let until = row.progress.state.waiting.until else { return nil }
                let bytes = row.total.map { max(0, $0.subtracting(row.received)) } ?? 0
                left = max(left, max(0, until.timeIntervalSince(now)) + Double(bytes) / speed)
            } else {
                left = max(left, row.left ?? 0)
            }
        }
        return left
    }

    private func row(_ progress: DownloadProgress, _ now: Date) -> ProgressFrame.Row {
        let meters = meters[progress.id]
        var row = ProgressFrame.Row(progress)
        row.progress.speed = meters?.speed.speed ?? progress.speed
        row.left = meters?.secondsLeft ?? row.left
        switch progress.state {
        case .running: row.note = progress.phase?.rawValue
        case .waiting: row.note = StateText.note(progress.state, now: now)
        case .queued, .paused, .completed, .failed, .cancelled: row.note = progress.state.kind.rawValue
        }
        return row
    }

    /// Returns the sort key of a download among the rows: by state, with running downloads first, and then by id.
    private static func rank(_ progress: DownloadProgress) -> (Int, DownloadID) {
        let rank =
            switch progress.state {
            case .running: 0
            case .waiting: 1
            case .paused: 2
            case .queued: 3
            case .completed, .failed, .cancelled: 4
            }
        return (rank, progress.id)
    }
}
