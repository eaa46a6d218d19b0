import DownloadCore

/// The body of `POST /v1/downloads/VERB` and `PATCH /v1/downloads`, and of the same requests for one download. If the
/// path has an id, the body must not have ids.
struct WireVerb: Codable, Sendable {
    var ids: [DownloadID]?
    // resume
    var headers: [[String]]?
    var insecure: Bool?
    var connections: Int?
    /// The most connections, if `connections` is 0.
    var connectionLimit: Int?
    var acceptsUnverified: Bool?
    var allowsRollback: Bool?
    var trustsFirstUse: Bool?
    var options: WireOptions?
    // remove
    var deleteFile: Bool?
    // PATCH
    var priority: Int?
    /// The rate limit in bytes per second; 0 lifts the limit.
    var rateLimit: Int64?
    var url: String?
    var mirrors: [String]?
    // resume and PATCH
    var user: String?
    var password: String?

    init(ids: [DownloadID]? = nil) { self.ids = ids }

    init(ids: [DownloadID], overrides: RequestOverrides) {
        self.ids = ids
        headers = overrides.headers.isEmpty ? nil : overrides.headers.map(\.wire)
        insecure = overrides.trust.map { !$0.verifiesServer }
        connections = overrides.connections?.number
        connectionLimit = overrides.connections?.limit
        acceptsUnverified = overrides.acceptsUnverified ? true : nil
        allowsRollback = overrides.allowsRollback ? true : nil
        trustsFirstUse = overrides.trustsFirstUse ? true : nil
        user = overrides.credential?.user
        password = overrides.credential?.password
        options = WireOptions(
            http: overrides.http, secretFiles: overrides.secretFiles, trust: overrides.trust,
            network: overrides.network, schemes: overrides.schemes)
    }

    init(ids: [DownloadID], change: DownloadChange) {
        self.ids = ids
        switch change {
        case .pause, .cancel: break
        case .priority(let priority): self.priority = priority
        case .rateLimit(let limit): rateLimit = limit ?? 0
        case .url(let url, let credential):
            self.url = url.string
            user = credential?.user
            password = credential?.password
        case .mirrors(let mirrors): self.mirrors = mirrors.map(\.string)
        }
    }

    func overrides() throws(WireProblem) -> RequestOverrides {
        var overrides = RequestOverrides()
        overrides.headers = try RequestHeader.fields(headers ?? [])
        overrides.trust = insecure.map { $0 ? .insecure : .system }
        let possible = DownloadRequest.Connections.possible
        let number = try connections.within(0...possible.upperBound, "connections")
        let limit = try connectionLimit.within(possible, "connectionLimit")
        if number != nil || limit != nil { overrides.connections = .init(number: number ?? 0, limit: limit) }
        overrides.acceptsUnverified = acceptsUnverified ?? false
        overrides.allowsRollback = allowsRollback ?? false
        overrides.trustsFirstUse = trustsFirstUse ?? false
        overrides.credential = user.map { Credential(user: $0, password: password) }
        if let options {
            overrides.http = options.givenHTTP
            overrides.secretFiles = options.secretFiles ?? overrides.secretFiles
            overrides.trust = options.trust ?? overrides.trust
            overrides.network = try options.givenNetwork
            overrides.schemes = options.schemes
        }
        if let name = RequestDocument.unusableField(of: overrides.applied(to: RequestDocument.baseline)) {
            throw WireProblem("\(name): not usable")
        }
        return overrides
    }

    /// Returns the one change that `PATCH` asks for.
    func change() throws(WireProblem) -> DownloadChange {
        guard [priority != nil, rateLimit != nil, url != nil, mirrors != nil].count(where: \.self) == 1 else {
            throw WireProblem("give one of priority, rateLimit, url and mirrors")
        }
        if let mirrors { return .mirrors(try WireGroup.mirrors(mirrors)) }
        if let priority { return .priority(priority) }
        if let rateLimit = try rateLimit.within(0 ... .max, "rateLimit") {
            return .rateLimit(rateLimit > 0 ? rateLimit : nil)
        }
        let parsed = try SourceURL.given(url ?? "")
        return .url(parsed.url, user.map { Credential(user: $0, password: password) } ?? parsed.credential)
    }
}

struct WireRemoved: Codable, Sendable {
    var version = WireCoder.version
    let ids: [DownloadID]
}
