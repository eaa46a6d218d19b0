import DownloadCore

/// The response to `GET /v1`, a cheap request that identifies the session.
struct WireHello: Codable, Sendable {
    var version = WireCoder.version
    let identifier: String
    let pid: Int32
}

/// The response to `GET /v1/session` and `PATCH /v1/session`: the status, with the settings among its values.
struct WireSession: Codable, Sendable {
    var status: SessionStatus

    init(_ status: SessionStatus) { self.status = status }

    init(from decoder: any Decoder) throws {
        status = try SessionStatus(from: decoder)
        status.settings = try SessionSettings(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try WireDone().encode(to: encoder)
        try status.encode(to: encoder)
        try status.settings.encode(to: encoder)
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
