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
    let programVersion: String
    let started: String
    let running: Int
    let waiting: Int
    let queued: Int
    let maxConcurrent: Int?
    let maxPerHost: Int?
    let rateLimit: Int64?
    let isFinishing: Bool
    let hostPauses: [WireHostPause]?

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
        hostPauses = status.hostPauses.isEmpty ? nil : status.hostPauses.map(WireHostPause.init)
    }

    var status: SessionStatus {
        get throws {
            var status = SessionStatus(
                identifier: identifier, pid: pid, version: programVersion, started: try WireCoder.date(started),
                running: running, waiting: waiting, queued: queued,
                settings: SessionSettings(maxConcurrent: maxConcurrent, maxPerHost: maxPerHost, rateLimit: rateLimit),
                isFinishing: isFinishing)
            status.hostPauses = try hostPauses?.map { try $0.pause } ?? []
            return status
        }
    }
}

/// A pause that a server asked for.
struct WireHostPause: Codable, Sendable {
    let origin: String
    let status: Int
    let until: String
    let causes: [DownloadID]

    init(_ pause: HostPause) {
        origin = pause.origin
        status = pause.status
        until = WireCoder.text(pause.until)
        causes = pause.causes
    }

    var pause: HostPause {
        get throws { HostPause(origin: origin, status: status, until: try WireCoder.date(until), causes: causes) }
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
