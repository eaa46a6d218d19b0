import DownloadKit
import Foundation

/// The reason why a download is in its state, in a few words.
enum StateText {
    static func note(_ state: DownloadState, now: Date) -> String? {
        switch state {
        case .waiting(.retry(let error), let until): "\(retry(until, now: now)): \(Redaction.describe(error))"
        case .waiting(.network, _): waitsForNetwork
        case .waiting(.schedule, let until): "waiting" + (until.map { " until \(ShowText.text($0))" } ?? "")
        case .waiting(.server(let status), let until):
            "the server asked to wait (\(status))"
                + (until.map { ", \(Units.duration($0.timeIntervalSince(now))) left" } ?? "")
        case .paused(.interrupted): "its process ended unexpectedly"
        case .paused(.hangup): "ended by SIGHUP"
        case .paused(.interrupt): "ended by SIGINT"
        case .paused(.terminate): "ended by SIGTERM"
        case .failed(let error): Redaction.describe(error)
        case .queued, .running, .paused(.user), .completed, .cancelled: nil
        }
    }

    static func note(_ fate: CompletedFileFate?) -> String? {
        fate.flatMap { $0 == .there ? nil : $0.description }
    }

    static let waitsForNetwork = "waiting for the network"

    /// Returns a text such as `retry in 4 s`.
    static func retry(_ until: Date?, now: Date) -> String {
        guard let until else { return "retry" }
        return "retry in \(Int(max(0, min(until.timeIntervalSince(now), 1e9)).rounded(.up))) s"
    }

    /// Returns the time when a download ended, and its duration: `2026-11-21 10:31:07 in 12 s`.
    static func end(_ date: Date, seconds: Double?) -> String {
        ShowText.text(date) + (seconds.map { " in \(Units.duration($0))" } ?? "")
    }

    static func failure(_ state: DownloadState) -> DownloadError {
        switch state {
        case .failed(let error): error
        case .cancelled: .cancelled
        case .queued, .running, .waiting, .paused, .completed: .unexpected("ended as \(state.kind.rawValue)")
        }
    }
}

extension DownloadState {
    /// What a waiting download waits for, in one word, and the end of the wait, if it is known.
    var waiting: (what: String?, until: Date?) {
        switch self {
        case .waiting(.retry, let until): ("retry", until)
        case .waiting(.network, let until): ("network", until)
        case .waiting(.schedule, let until): ("schedule", until)
        case .waiting(.server, let until): ("server", until)
        default: (nil, nil)
        }
    }
}

extension DownloadProgress {
    /// Creates the progress that an event reports; nil if the event says nothing about the state.
    init?(_ event: LoggedEvent) {
        guard let state = event.state else { return nil }
        self.init(id: event.id, name: event.name, state: state, received: event.received, total: event.total)
    }

    /// The estimated time until the download is complete, in seconds.
    var secondsLeft: Double? {
        guard let total, let speed, speed > 0, received < total else { return nil }
        return (Double(total) - Double(received)) / speed
    }
}
