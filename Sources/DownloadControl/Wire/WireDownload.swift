import DownloadCore

/// A download in a response. The flat fields mean the same as in `dlm list --json` and `dlm show --json`. A dlm
/// client uses `record` and `progress`.
struct WireDownload: Encodable, Sendable {
    /// The version of the API, if the download is the whole response.
    var version: Int?
    /// The result of `resume`.
    let kind: ClaimedDownload.Kind?
    /// Whether a change had any effect; nil except after a change.
    let changed: Bool?
    let snapshot: DownloadSnapshot
    /// The fields that are written; nil for all.
    var only: Set<Field>?

    init(_ snapshot: DownloadSnapshot, kind: ClaimedDownload.Kind? = nil, changed: Bool? = nil) {
        (self.snapshot, self.kind, self.changed) = (snapshot, kind, changed)
    }

    /// The names of the fields. `attended` says whether the session of the download is alive.
    enum Field: String, CodingKey {
        case version, kind, changed, id, state, name, url, effectiveURL, path, folder, received, total, speed
        case connections, priority, rateLimit, session, attended, error, created, updated, record, progress
        case activeConnections
    }

    func encode(to encoder: any Encoder) throws {
        let (record, progress) = (snapshot.record, snapshot.progress)
        var values = encoder.container(keyedBy: Field.self)
        func write<Value: Encodable>(_ field: Field, _ value: @autoclosure () -> Value?) throws {
            if only?.contains(field) ?? true { try values.encodeIfPresent(value(), forKey: field) }
        }
        try write(.version, version)
        try write(.kind, kind)
        try write(.changed, changed)
        try write(.id, record.id)
        try write(.state, progress.state.kind.rawValue)
        try write(.name, record.displayName)
        try write(.url, record.request.url.string)
        try write(.effectiveURL, record.resume.finalURL?.string)
        try write(.path, snapshot.path)
        try write(.folder, record.request.destination.folder)
        try write(.received, progress.received)
        try write(.total, progress.total)
        try write(.speed, progress.speed)
        try write(.connections, record.request.connections.number)
        try write(.priority, record.request.priority)
        try write(.rateLimit, record.request.rateLimit)
        try write(.session, record.session)
        try write(.attended, snapshot.isAttended)
        try write(.error, record.state.error.map { WireError($0) })
        try write(.created, WireCoder.text(record.created))
        try write(.updated, WireCoder.text(record.updated))
        try write(.record, record)
        try write(.progress, progress)
        try write(.activeConnections, snapshot.activeConnections)
    }
}

/// A response with several downloads.
struct WireDownloads: Encodable, Sendable {
    var version = WireCoder.version
    let downloads: [WireDownload]
}

/// The part of a ``WireDownload`` that a dlm client reads.
struct ReceivedDownload: Decodable, Sendable {
    let kind: ClaimedDownload.Kind?
    let changed: Bool?
    let attended: Bool?
    let record: DownloadRecord
    let progress: DownloadProgress
    let activeConnections: [ConnectionProgress]?

    var snapshot: DownloadSnapshot {
        var snapshot = DownloadSnapshot(record: record, progress: progress)
        snapshot.isAttended = attended ?? true
        snapshot.activeConnections = activeConnections
        return snapshot
    }
}

struct ReceivedDownloads: Decodable, Sendable {
    let downloads: [ReceivedDownload]
}

/// The response to `GET /v1/progress`.
struct WireProgress: Codable, Sendable {
    struct Row: Codable, Sendable {
        let progress: DownloadProgress

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: WireDownload.Field.self)
            try values.encode(progress.id, forKey: .id)
            try values.encode(progress.name, forKey: .name)
            try values.encode(progress.state.kind.rawValue, forKey: .state)
            try values.encode(progress.received, forKey: .received)
            try values.encodeIfPresent(progress.total, forKey: .total)
            try values.encodeIfPresent(progress.speed, forKey: .speed)
            try values.encode(progress, forKey: .progress)
        }
    }

    var version = WireCoder.version
    let downloads: [Row]

    init(_ progress: [DownloadProgress]) { downloads = progress.map { Row(progress: $0) } }
}
