import DownloadKit
import Foundation

/// The document of `dlm daemon status`.
struct DaemonDocument: Document, Equatable {
    var version = 1
    let identifier: String
    /// The process id; nil if the session is not running. The other values of a running session are then nil, 0 or
    /// false.
    let pid: Int32?
    let socket: String
    let program: String?
    let started: Date?
    let running: Int
    let waiting: Int
    /// The number of queued downloads; nil if the session is not running.
    let queued: Int?
    let maxConcurrent: Int?
    let maxPerHost: Int?
    /// The speed limit in bytes per second; nil for no limit.
    let rateLimit: Int64?
    let isFinishing: Bool

    init(_ status: SessionStatus, socket: String) {
        identifier = status.identifier
        pid = status.pid
        self.socket = socket
        program = status.version
        started = status.started
        running = status.running
        waiting = status.waiting
        queued = status.queued
        maxConcurrent = status.settings.maxConcurrent
        maxPerHost = status.settings.maxPerHost
        rateLimit = status.settings.rateLimit.flatMap { $0 > 0 ? $0 : nil }
        isFinishing = status.isFinishing
    }

    /// Creates the document for a session that is not running.
    init(socket: String) {
        identifier = SessionIdentifier.background
        self.socket = socket
        (pid, program, started, queued, maxConcurrent, maxPerHost, rateLimit) = (nil, nil, nil, nil, nil, nil, nil)
        (running, waiting, isFinishing) = (0, 0, false)
    }
}
