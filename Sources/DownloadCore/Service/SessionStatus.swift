import Foundation

/// A session as it answers for itself.
public struct SessionStatus: Codable, Sendable, Equatable {
    /// Of the control API (docs/api.md).
    public static let apiVersion = 1

    public var identifier: String
    public var pid: Int32
    /// Of the program.
    public var version: String
    public var started: Date
    /// Downloads that transfer.
    public var running: Int
    /// Downloads between two attempts.
    public var waiting: Int
    public var queued: Int
    public var settings: SessionSettings
    /// It ends once the running downloads have ended.
    public var isFinishing: Bool

    public init(
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
public struct SessionSettings: Codable, Sendable, Equatable {
    public var maxConcurrent: Int?
    public var maxPerHost: Int?
    /// Bytes per second for the whole session; 0 lifts the limit.
    public var rateLimit: Int64?

    public init(maxConcurrent: Int? = nil, maxPerHost: Int? = nil, rateLimit: Int64? = nil) {
        self.maxConcurrent = maxConcurrent
        self.maxPerHost = maxPerHost
        self.rateLimit = rateLimit
    }
}

/// URLSession's `invalidateAndCancel` and `finishTasksAndInvalidate`.
public enum ShutdownMode: String, Codable, Sendable {
    /// What runs is paused with its resume data, and goes on at the next start.
    case pause
    /// What runs may end; nothing new is begun.
    case finish
}
