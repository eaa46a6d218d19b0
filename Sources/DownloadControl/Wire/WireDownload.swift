import DownloadCore

/// A download in a response. The flat fields mean the same as in `dlm list --json` and `dlm show --json`. A dlm
/// client uses `record` and `progress`.
struct WireDownload: Encodable, Sendable {
    /// The version of the API, if the download is the whole response.
    var version: Int?
    /// The result of `resume`: `claimed`, `running` or `completed`.
    var kind: String?
    /// Whether a change had any effect; nil except after a change.
    var changed: Bool?
    let id: DownloadID
    let state: String
    let name: String
    let url: String
    let effectiveURL: String?
    let path: String?
    let folder: String
    let received: Int64
    let total: Int64?
    let speed: Double?
    let connections: Int
    let priority: Int
    let rateLimit: Int64?
    let session: String?
    /// Whether the session of the download is alive.
    let attended: Bool
    let error: WireError?
    let created: String
    let updated: String
    let record: DownloadRecord
    let progress: DownloadProgress
    /// The fields that are written; nil for all.
    var only: Set<Field>?

    /// The names of the fields.
    enum Field: String, CodingKey {
        case version, kind, changed, id, state, name, url, effectiveURL, path, folder, received, total, speed
        case connections, priority, rateLimit, session, attended, error, created, updated, record, progress
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Field.self)
        func write(_ field: Field, _ value: (some Encodable)?) throws {
            if only?.contains(field) ?? true { try values.encodeIfPresent(value, forKey: field) }
        }
        try write(.version, version)
        try write(.kind, kind)
        try write(.changed, changed)
        try write(.id, id)
        try write(.state, state)
        try write(.name, name)
        try write(.url, url)
        try write(.effectiveURL, effectiveURL)
        try write(.path, path)
        try write(.folder, folder)
        try write(.received, received)
        try write(.total, total)
        try write(.speed, speed)
        try write(.connections, connections)
        try write(.priority, priority)
        try write(.rateLimit, rateLimit)
        try write(.session, session)
        try write(.attended, attended)
        try write(.error, error)
        try write(.created, created)
        try write(.updated, updated)
        try write(.record, record)
        try write(.progress, progress)
    }

    init(_ snapshot: DownloadSnapshot, kind: String? = nil, changed: Bool? = nil) {
        let record = snapshot.record
        self.kind = kind
        self.changed = changed
        id = record.id
        state = snapshot.progress.state.kind.rawValue
        name = record.displayName
        url = record.request.url.string
        effectiveURL = record.resume.finalURL?.string
        path = record.completed?.path ?? record.finalPath
        folder = record.request.destination.folder
        received = snapshot.progress.received
        total = snapshot.progress.total
        speed = snapshot.progress.speed
        connections = record.request.connectionsWithoutLimit
        priority = record.request.priority
        rateLimit = record.request.rateLimit
        session = record.session
        attended = snapshot.isAttended
        error = record.state.error.map { WireError($0) }
        created = WireCoder.text(record.created)
        updated = WireCoder.text(record.updated)
        self.record = record
        progress = snapshot.progress
    }
}

/// A response with several downloads.
struct WireDownloads: Encodable, Sendable {
    var version = WireCoder.version
    let downloads: [WireDownload]
}

/// The part of a ``WireDownload`` that a dlm client reads.
struct ReceivedDownload: Decodable, Sendable {
    let kind: String?
    let changed: Bool?
    let attended: Bool?
    let record: DownloadRecord
    let progress: DownloadProgress

    var snapshot: DownloadSnapshot {
        var snapshot = DownloadSnapshot(record: record, progress: progress)
        snapshot.isAttended = attended ?? true
        return snapshot
    }
}

struct ReceivedDownloads: Decodable, Sendable {
    let downloads: [ReceivedDownload]
    let more: Bool?
}

/// The response to `GET /v1/progress`.
struct WireProgress: Codable, Sendable {
    struct Row: Codable, Sendable {
        let id: DownloadID
        let name: String
        let state: String
        let received: Int64
        let total: Int64?
        let speed: Double?
        let progress: DownloadProgress

        init(_ progress: DownloadProgress) {
            id = progress.id
            name = progress.name
            state = progress.state.kind.rawValue
            received = progress.received
            total = progress.total
            speed = progress.speed
            self.progress = progress
        }
    }

    var version = WireCoder.version
    let downloads: [Row]

    init(_ progress: [DownloadProgress]) { downloads = progress.map(Row.init) }
}
