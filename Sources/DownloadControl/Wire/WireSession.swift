import DownloadCore

/// The response to `GET /v1`, a cheap request that identifies the session.
struct WireHello: Codable, Sendable {
    var version = WireCoder.version
    let identifier: String
    let pid: Int32
}

/// The response to `GET /v1/session` and `PATCH /v1/session`.
struct WireSession: Codable, Sendable {
    var version = WireCoder.version
    let identifier: String
    let pid: Int32
    /// The version of dlm.
    let programVersion: String
    let started: String
    let running: Int
    let waiting: Int
    let queued: Int
    let maxConcurrent: Int?
    let maxPerHost: Int?
    let rateLimit: Int64?
    let isFinishing: Bool

    init(_ status: SessionStatus) {
        identifier = status.identifier
        pid = status.pid
        programVersion = status.version
        started = WireCoder.text(status.started)
        running = status.running
        waiting = status.waiting
        queued = status.queued
        maxConcurrent = status.settings.maxConcurrent
        maxPerHost = status.settings.maxPerHost
        rateLimit = status.settings.rateLimit
        isFinishing = status.isFinishing
    }

    var status: SessionStatus {
        get throws {
            SessionStatus(
                identifier: identifier, pid: pid, version: programVersion, started: try WireCoder.date(started),
                running: running, waiting: waiting, queued: queued,
                settings: SessionSettings(maxConcurrent: maxConcurrent, maxPerHost: maxPerHost, rateLimit: rateLimit),
                isFinishing: isFinishing)
        }
    }
}

/// The body of `POST /v1/session/shutdown`.
struct WireShutdown: Codable, Sendable {
    let mode: ShutdownMode
}

/// A response that only confirms the request.
struct WireDone: Codable, Sendable {
    var version = WireCoder.version
}
