import DownloadCore
import Foundation

/// A counter of the events in the store's log. It starts when ``current()`` is called first.
actor EventCounter {
    struct Counts: Sendable {
        var kinds: [(labels: String, value: Double)] = []
        var bytes: [(labels: String, value: Double)] = []
        var retries = 0.0
        var lag = 0.0
    }

    private let service: any DownloadService
    private var task: Task<Void, Never>?
    private var kinds: [LoggedEvent.Kind: Int] = [:]
    private var bytes: [String: Int64] = [:]
    private var newest: (event: Date, read: Date)?

    /// The most hosts with counts of their own. Without a limit, a list of a million hosts would fill the memory.
    private static let mostHosts = 1000

    init(_ service: any DownloadService) { self.service = service }

    func current() throws -> Counts {
        if task == nil {
            task = Task { [weak self, service] in
                // If the log cannot be read, the counts do not change, and the next call tries again.
                if let log = try? await service.log(since: nil) {
                    do { for try await entry in log { await self?.count(entry) } } catch {}
                }
                await self?.forgetTask()
            }
        }
        var counts = Counts()
        counts.kinds = LoggedEvent.Kind.allCases.map {
            (MetricsText.label("kind", $0.rawValue), Double(kinds[$0] ?? 0))
        }
        counts.bytes = bytes.sorted { $0.key < $1.key }.map { (MetricsText.label("host", $0.key), Double($0.value)) }
        counts.retries = Double(kinds[.waiting] ?? 0)
        return counts
    }

    private func forgetTask() { task = nil }

    private func count(_ entry: LogEntry) {
        guard case .event(let event) = entry else { return }
        kinds[event.kind, default: 0] += 1
        guard event.kind == .completed, case .success(let parsed) = SourceURL.parse(event.url) else { return }
        let host = bytes[parsed.url.host] != nil || bytes.count < Self.mostHosts ? parsed.url.host : "other"
        bytes[host, default: 0] += event.received
    }
}
