import Foundation

/// A session as it answers for itself.
package struct SessionStatus: Codable, Sendable, Equatable {
    /// Of the control API (docs/api.md).
    package static let apiVersion = 1

    package var identifier: String
    package var pid: Int32
    /// Of the program.
    package var version: String
    package var started: Date
    /// Downloads that transfer.
    package var running: Int
    /// Downloads between two attempts.
    package var waiting: Int
    package var queued: Int
    package var settings: SessionSettings
    /// It ends once the running downloads have ended.
    package var isFinishing: Bool

    package init(
        identifier: String, pid: Int32, version: String, started: Date, running: Int, waiting: Int, queued: Int,
        settings: SessionSettings, isFinishing: Bool
    ) {
        self.identifier = identifier
        self.pid = pid
        self.version = version
        self.started = started
        self.running = running
        self.waiting = waiting
        self.queued = queued
        self.settings = settings
        self.isFinishing = isFinishing
    }
}

/// What may be changed while a session works; nil leaves a setting as it is.
package struct SessionSettings: Codable, Sendable, Equatable {
    package var maxConcurrent: Int?
    package var maxPerHost: Int?
    /// Bytes per second for the whole session; 0 lifts the limit.
    package var rateLimit: Int64?

    package init(maxConcurrent: Int? = nil, maxPerHost: Int? = nil, rateLimit: Int64? = nil) {
        self.maxConcurrent = maxConcurrent
        self.maxPerHost = maxPerHost
        self.rateLimit = rateLimit
    }
}

/// URLSession's `invalidateAndCancel` and `finishTasksAndInvalidate`.
package enum ShutdownMode: String, Codable, Sendable {
    /// What runs is paused with its resume data, and goes on at the next start.
    case pause
    /// What runs may end; nothing new is begun.
    case finish
}
