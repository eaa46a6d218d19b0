import DownloadCore
import Foundation

/// A counter of the events in the store's log. It counts from the first call of ``current()`` on.
actor EventCounter {
    /// How an attempt ended.
    enum Result: String, CaseIterable, Sendable {
        case completed
        /// Another attempt follows.
        case retried
        case failed
        /// The attempt was stopped by the user, by the schedule, or by the end of the session.
        case stopped
    }

    struct Counts: Sendable {
        var kinds: [LoggedEvent.Kind: Int] = [:]
        var results: [Result: Int] = [:]
        /// The bytes of completed downloads, by host.
        var bytes: [String: Int64] = [:]
        /// The age of the newest event when it was read, in seconds.
        var lag = 0.0
    }

    private var isCounting = false
    private(set) var counts = Counts()
    /// The downloads with a running attempt.
    private var running: Set<DownloadID> = []

    /// The greatest number of hosts that are counted separately. Without a limit, a list of a million hosts would fill
    /// the memory.
    private static let mostHosts = 1000
    private static let mostRunning = 10_000

    /// Returns the counts. The first call starts the counting.
    func current() -> Counts {
        isCounting = true
        return counts
    }

    func count(_ event: LoggedEvent, at now: Date) {
        guard isCounting else { return }
        counts.kinds[event.kind, default: 0] += 1
        counts.lag = max(0, now.timeIntervalSince(event.time))
        if let result = result(of: event) { counts.results[result, default: 0] += 1 }
        guard event.kind == .completed, case .success(let parsed) = SourceURL.parse(event.url) else { return }
        let host = parsed.url.host
        counts.bytes[counts.bytes[host] != nil || counts.bytes.count < Self.mostHosts ? host : "other", default: 0] +=
            event.received
    }

    /// Returns the result of the attempt that an event ends, or nil if the event ends no attempt. A small file may end
    /// without an event for its start.
    private func result(of event: LoggedEvent) -> Result? {
        if event.kind == .started {
            if running.count < Self.mostRunning { running.insert(event.id) }
            return nil
        }
        guard event.kind.isMove else { return nil }
        let wasRunning = running.remove(event.id) != nil
        if event.kind == .completed { return .completed }
        if event.kind == .failed { return .failed }
        if event.kind == .waiting, !event.waitsForSchedule { return .retried }
        return wasRunning ? .stopped : nil
    }
}
