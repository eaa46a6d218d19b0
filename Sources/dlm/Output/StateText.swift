import DownloadKit
import Foundation

/// The reason why a download is in its state, in a few words.
enum StateText {
    static func note(_ state: DownloadState, now: Date) -> String? {
        switch state {
        case .waiting(.retry(let error), let until): "\(retry(until, now: now)): \(Redaction.describe(error))"
        case .waiting(.network, _): waitsForNetwork
        case .waiting(.schedule, let until): waits(until: until)
        case .waiting(.server(let status), let until):
            "the server asked to wait (\(status))"
                + (until.map { ", \(Units.duration($0.timeIntervalSince(now))) left" } ?? "")
        case .paused(.interrupted): "its process ended unexpectedly"
        case .paused(let reason) where reason != .user: "ended by \(signalName(reason))"
        case .failed(let error): Redaction.describe(error)
        case .queued, .running, .paused, .completed, .cancelled: nil
        }
    }

    /// Returns a text if the file of a completed download is gone or changed, otherwise nil.
    static func note(_ fate: CompletedFileFate?) -> String? {
        fate.flatMap { $0 == .there ? nil : $0.description }
    }

    static let waitsForNetwork = "waiting for the network"

    /// Returns a text such as `waiting until 2026-11-22 01:00:00`.
    static func waits(until: Date?) -> String { "waiting" + (until.map { " until \(ShowText.text($0))" } ?? "") }

    /// Returns a text such as `retry in 4 s`.
    static func retry(_ until: Date?, now: Date) -> String {
        guard let until else { return "retry" }
        return "retry in \(Int(max(0, min(until.timeIntervalSince(now), 1e9)).rounded(.up))) s"
    }

    /// Returns the time when a download ended, and its duration: `2026-11-21 10:31:07 in 12 s`.
    static func end(_ date: Date, seconds: Double?) -> String {
        ShowText.text(date) + (seconds.map { " in \(Units.duration($0))" } ?? "")
    }

    static func signalName(_ reason: DownloadState.PauseReason) -> String {
        switch reason {
        case .user: "the user"
        case .hangup: "SIGHUP"
        case .interrupt: "SIGINT"
        case .terminate: "SIGTERM"
        case .interrupted: "the death of its process"
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

/// An estimate of the time until a download is complete.
enum TimeLeft {
    static func seconds(received: Int64, total: Int64?, speed: Double?) -> Double? {
        guard let total, let speed, speed > 0, received < total else { return nil }
        return (Double(total) - Double(received)) / speed
    }
}

extension DownloadRecord {
    /// The time that all recorded attempts took together, in seconds.
    var seconds: Double {
        attempts.reduce(0) { $0 + ($1.ended ?? updated).timeIntervalSince($1.started) }
    }
}
