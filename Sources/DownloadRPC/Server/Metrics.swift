import DownloadControl
import DownloadCore
import Foundation

/// The metrics of the session for Prometheus and similar programs (`/metrics`). They are written as OpenMetrics text
/// (openmetrics.io, 1.0), or in the older format if the client does not accept OpenMetrics. Counters count the events
/// that come into the store's log after the first request for `/metrics`.
struct Metrics: Sendable {
    /// The token that permits only reading the metrics. It is derived from the secret, so no other file is needed.
    let token: String?
    private let service: any DownloadService
    let counter: EventCounter
    private let time: any TimeSource

    init(_ service: any DownloadService, secret: RPCSecret, time: any TimeSource, counter: EventCounter) {
        self.service = service
        self.time = time
        self.counter = counter
        token = secret.metricsToken
    }

    /// - Parameter accept: The field `Accept` of the request, which names the formats that the client can read.
    func answer(_ accept: String) async -> ControlAnswer {
        let isOpen = accept.contains("application/openmetrics-text")
        do {
            let text = try await text(isOpen)
            return ControlAnswer(
                contentType: isOpen ? Self.open : Self.older, body: .whole(Data(text.utf8))
            )
        } catch {
            return .refusal(503, RPCError(error).message)
        }
    }

    private static let open = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    private static let older = "text/plain; version=0.0.4; charset=utf-8"

    private func text(_ isOpen: Bool) async throws -> String {
        let begun = time.now
        let counts = await counter.current()
        let kinds: [DownloadState.Kind] = [.queued, .running, .waiting, .paused]
        let unfinished = try await service.snapshots(DownloadSelection(.states(Set(kinds))))
        let latency = time.now - begun
        let status = try await service.status()
        func inState(_ kind: DownloadState.Kind) -> [DownloadSnapshot] {
            unfinished.filter { $0.progress.state.kind == kind }
        }
        func speed(_ snapshots: [DownloadSnapshot]) -> Double {
            snapshots.reduce(0) { $0 + ($1.progress.speed ?? $1.record.speed ?? 0) }
        }
        let hosts = Dictionary(grouping: inState(.running), by: \.record.request.url.host).sorted { $0.key < $1.key }
        let oldest = inState(.queued).map(\.record.updated).min()
        let waiting = Set(inState(.waiting).map(\.record.request.url.host))
        var text = MetricsText(isOpen: isOpen)
        text.gauge(
            "dlm_downloads", "Downloads that have not ended, by state.", by: "state",
            kinds.map { ($0.rawValue, Double(inState($0).count)) })
        text.gauge(
            "dlm_speed_bytes", "Bytes per second that come in now, by host.", by: "host",
            hosts.map { ($0.key, speed($0.value)) })
        text.gauge(
            "dlm_queue_age_seconds", "Age of the oldest download in the queue.",
            oldest.map { max(0, time.date.timeIntervalSince($0)) } ?? 0)
        text.gauge("dlm_hosts_waiting", "Hosts that have downloads in the state waiting.", Double(waiting.count))
        text.gauge("dlm_store_latency_seconds", "Time of the last look into the store.", latency.inSeconds)
        text.gauge("dlm_event_lag_seconds", "Age of the newest event when it was read.", counts.lag)
        text.gauge("dlm_session_start_time_seconds", "When the session began.", status.started.timeIntervalSince1970)
        text.counter(
            "dlm_events", "Changes of downloads, by kind.", by: "kind",
            LoggedEvent.Kind.allCases.map { ($0.rawValue, Double(counts.kinds[$0] ?? 0)) })
        text.counter(
            "dlm_attempts", "Attempts that have ended, by result.", by: "result",
            EventCounter.Result.allCases.map { ($0.rawValue, Double(counts.results[$0] ?? 0)) })
        text.counter(
            "dlm_ended_bytes", "Bytes of downloads that have completed, by host.", by: "host",
            counts.bytes.sorted { $0.key < $1.key }.map { ($0.key, Double($0.value)) })
        text.counter(
            "dlm_retries", "Failed attempts that were followed by another.", by: nil,
            [("", Double(counts.results[.retried] ?? 0))])
        return text.end()
    }
}
