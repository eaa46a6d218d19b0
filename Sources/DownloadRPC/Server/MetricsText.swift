import DownloadCore
import Foundation

/// A writer of metric families.
struct MetricsText {
    /// Whether to write OpenMetrics. Otherwise Prometheus's older text format is written, in which the family of a
    /// counter has the name of its samples.
    let isOpen: Bool
    private var text = ""

    init(isOpen: Bool) { self.isOpen = isOpen }

    mutating func gauge(_ name: String, _ help: String, _ samples: [(labels: String, value: Double)]) {
        family(name, "gauge", help)
        for sample in samples { line(name, sample.labels, sample.value) }
    }

    mutating func counter(_ name: String, _ help: String, _ samples: [(labels: String, value: Double)]) {
        family(isOpen ? name : "\(name)_total", "counter", help)
        for sample in samples { line("\(name)_total", sample.labels, sample.value) }
    }

    private mutating func family(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ labels: String, _ value: Double) {
        let number = Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(number)\n"
    }

    func end() -> String { isOpen ? text + "# EOF\n" : text }

    // MARK: Samples

    /// Returns `name="value"`, with the special characters of the value escaped.
    static func label(_ name: String, _ value: String) -> String {
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\(name)=\"\(escaped)\""
    }

    static func kinds(_ counts: EventCounter.Counts) -> [(labels: String, value: Double)] {
        LoggedEvent.Kind.allCases.map { (label("kind", $0.rawValue), Double(counts.kinds[$0] ?? 0)) }
    }

    static func results(_ counts: EventCounter.Counts) -> [(labels: String, value: Double)] {
        EventCounter.Result.allCases.map { (label("result", $0.rawValue), Double(counts.results[$0] ?? 0)) }
    }

    static func bytes(_ counts: EventCounter.Counts) -> [(labels: String, value: Double)] {
        counts.bytes.sorted { $0.key < $1.key }.map { (label("host", $0.key), Double($0.value)) }
    }

    static func states(_ snapshots: [DownloadSnapshot]) -> [(labels: String, value: Double)] {
        let kinds: [DownloadState.Kind] = [.queued, .running, .waiting, .paused]
        return kinds.map { kind in
            (label("state", kind.rawValue), Double(snapshots.count { $0.progress.state.kind == kind }))
        }
    }

    static func speeds(_ snapshots: [DownloadSnapshot]) -> [(labels: String, value: Double)] {
        let running = snapshots.filter { $0.progress.state.kind == .running }
        return Dictionary(grouping: running, by: \.record.request.url.host).sorted { $0.key < $1.key }.map {
            host, ones in
            (label("host", host), ones.reduce(0) { $0 + ($1.progress.speed ?? $1.record.speed ?? 0) })
        }
    }

    static func queueAge(_ snapshots: [DownloadSnapshot], now: Date) -> Double {
        let oldest = snapshots.filter { $0.progress.state.kind == .queued }.map(\.record.updated).min()
        return oldest.map { max(0, now.timeIntervalSince($0)) } ?? 0
    }

    static func held(_ snapshots: [DownloadSnapshot]) -> Double {
        Double(Set(snapshots.filter { $0.progress.state.kind == .waiting }.map(\.record.request.url.host)).count)
    }
}
