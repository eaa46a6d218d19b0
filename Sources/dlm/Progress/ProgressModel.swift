import DownloadKit
import Foundation

/// Makes frames out of the progress of downloads: remembers speeds and the downloads of other processes. Pure.
struct ProgressModel {
    private var meters: [DownloadID: SpeedMeter] = [:]
    private var totalMeter = SpeedMeter()
    private var elsewhere: [DownloadID: DownloadProgress] = [:]

    /// Of more downloads elsewhere only those at work are remembered.
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

    /// - Parameters:
    ///   - here: the downloads at work in this process.
    ///   - time: seconds of a monotonic clock; `now` is for the waiting times.
    mutating func frame(_ here: [DownloadProgress], _ ledger: inout Ledger, time: Double, now: Date) -> ProgressFrame {
        let own = here.filter { ledger.here.contains($0.id) }
        let all = own + elsewhere.values.filter { ledger.elsewhere.contains($0.id) }
        var received = ledger.completedBytes
        var fetched = ledger.fetchedBytes
        var bytes: Int64? = ledger.completedBytes
        for progress in all {
            received = received.adding(progress.received)
            let offset = ledger.offset(of: progress.id, received: progress.received)
            fetched = fetched.adding(max(0, progress.received.subtracting(offset)))
            bytes = progress.total.flatMap { total in bytes.map { $0.adding(total) } }
            if progress.state.kind == .running {
                meters[progress.id, default: SpeedMeter()].add(time: time, bytes: progress.received)
            } else {
                meters[progress.id] = nil
            }
        }
        if !ledger.hasAll || ledger.count > ledger.completed + ledger.failed.count + all.count { bytes = nil }
        totalMeter.add(time: time, bytes: fetched)
        let rows = all.sorted { Self.rank($0) < Self.rank($1) }.map { row($0, now) }
        guard ledger.count > 1 || !ledger.hasAll && ledger.count > 0 else { return ProgressFrame(rows: rows) }
        let total = ProgressFrame.Total(
            downloads: ledger.count, done: ledger.completed, failed: ledger.failed.count, received: received,
            bytes: bytes, speed: totalMeter.speed)
        return ProgressFrame(rows: rows, total: total)
    }

    private func row(_ progress: DownloadProgress, _ now: Date) -> ProgressFrame.Row {
        let speed = meters[progress.id]?.speed ?? progress.speed
        var row = ProgressFrame.Row(
            name: progress.name, received: progress.received, total: progress.total, speed: speed,
            time: TimeLeft.seconds(received: progress.received, total: progress.total, speed: speed).map(Units.left))
        switch progress.state {
        case .running: row.note = progress.isFinishing ? "verifying" : nil
        case .waiting(.retry(let error), let until):
            row.note = "\(StateText.retry(until, now: now)): \(Redaction.describe(error))"
        case .queued, .paused, .completed, .failed, .cancelled:
            row.note = progress.state.kind.rawValue
            row.isActive = false
        }
        return row
    }

    /// Those at work first, then in order.
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
