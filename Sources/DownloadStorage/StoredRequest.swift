import DownloadCore

/// A request as its column holds it: what it has of its own. What is missing is as in ``baseline``, so that the row of a
/// plain download says nothing at all. Rows of older versions name every field, and are read alike.
struct StoredRequest: Codable {
    private struct Place: Codable {
        let ifExists: Destination.IfExists?
        let createsFolders: Bool?
        let takesServerName: Bool?
        let keepsRemoteTime: Bool?
        let continues: Bool?

        /// Nil for a usual one; folder and name have columns.
        init?(_ place: Destination) {
            let usual = StoredRequest.baseline.destination
            ifExists = place.ifExists
            createsFolders = place.createsFolders
            takesServerName = place.takesServerName == usual.takesServerName ? nil : place.takesServerName
            keepsRemoteTime = place.keepsRemoteTime == usual.keepsRemoteTime ? nil : place.keepsRemoteTime
            continues = place.continues == usual.continues ? nil : place.continues
            let others: [Bool?] = [takesServerName, keepsRemoteTime, continues]
            if ifExists == usual.ifExists, createsFolders == usual.createsFolders, others == [nil, nil, nil] {
                return nil
            }
        }

        func fill(_ place: inout Destination) {
            place.ifExists = ifExists ?? place.ifExists
            place.createsFolders = createsFolders ?? place.createsFolders
            place.takesServerName = takesServerName ?? place.takesServerName
            place.keepsRemoteTime = keepsRemoteTime ?? place.keepsRemoteTime
            place.continues = continues ?? place.continues
        }
    }

    private let destination: Place?
    private let headers: [RequestHeader]?
    private let http: HTTPOptions?
    private let credential: Credential?
    private let secretFiles: SecretFiles?
    private let checksum: Checksum?
    private let checksums: ChecksumList?
    private let connections: Int?
    /// The most connections where the number is automatic. Older programs do not know it and take their own limit.
    private let connectionLimit: Int?
    private let rateLimit: Int64?
    private let retry: RetryPolicy?
    private let redirect: RedirectPolicy?
    private let trust: ServerTrustPolicy?
    private let network: NetworkSettings?
    private let timeouts: DownloadRequest.Timeouts?
    private let acceptsUnverified: Bool?
    private let validation: ResponseValidation?
    private let startsPaused: Bool?
    private let hooks: Hooks?
    private let mirrors: [SourceURL]?
    private let size: Int64?
    private let pieces: PieceHashes?
    private let followsMetalink: Bool?
    private let location: String?
    private let describedName: String?
    private let describedBy: SourceURL?
    private let schedule: DownloadSchedule?
    private let pacing: Double?
    private let repairs: Bool?

    init(_ request: DownloadRequest) {
        destination = Place(request.destination)
        headers = Self.own(request, \.headers)
        http = Self.own(request, \.http)
        credential = request.credential
        secretFiles = Self.own(request, \.secretFiles)
        checksum = request.checksum
        checksums = request.checksums
        connections = Self.own(request, \.connectionsWithoutLimit)
        connectionLimit = request.connectionLimit
        rateLimit = request.rateLimit
        retry = Self.own(request, \.retry)
        redirect = Self.own(request, \.redirect)
        trust = Self.own(request, \.trust)
        network = Self.own(request, \.network)
        timeouts = Self.own(request, \.timeouts)
        acceptsUnverified = Self.own(request, \.acceptsUnverified)
        validation = Self.own(request, \.validation)
        startsPaused = Self.own(request, \.startsPaused)
        hooks = request.hooks
        mirrors = Self.own(request, \.mirrors)
        size = request.size
        pieces = request.pieces
        followsMetalink = Self.own(request, \.followsMetalink)
        location = request.location
        describedName = request.describedName
        describedBy = request.describedBy
        schedule = request.schedule
        pacing = request.pacing
        repairs = Self.own(request, \.repairs)
    }

    /// Without what has a column of its own.
    var request: DownloadRequest {
        var request = Self.baseline
        destination?.fill(&request.destination)
        request.headers = headers ?? request.headers
        request.http = http ?? request.http
        request.credential = credential
        request.secretFiles = secretFiles ?? request.secretFiles
        request.checksum = checksum
        request.checksums = checksums
        request.connections = DownloadRequest.connections(connections ?? request.connections, limit: connectionLimit)
        request.rateLimit = rateLimit
        request.retry = retry ?? request.retry
        request.redirect = redirect ?? request.redirect
        request.trust = trust ?? request.trust
        request.network = network ?? request.network
        request.timeouts = timeouts ?? request.timeouts
        request.acceptsUnverified = acceptsUnverified ?? request.acceptsUnverified
        request.validation = validation ?? request.validation
        request.startsPaused = startsPaused ?? request.startsPaused
        request.hooks = hooks
        request.mirrors = mirrors ?? []
        request.size = size
        request.pieces = pieces
        request.followsMetalink = followsMetalink ?? request.followsMetalink
        request.location = location
        request.describedName = describedName
        request.describedBy = describedBy
        request.schedule = schedule
        request.pacing = pacing
        request.repairs = repairs ?? false
        return request
    }

    private static func own<Value: Equatable>(
        _ request: DownloadRequest, _ field: KeyPath<DownloadRequest, Value>
    ) -> Value? {
        request[keyPath: field] == baseline[keyPath: field] ? nil : request[keyPath: field]
    }

    /// Part of the format, as the steps of ``Migrations`` are: never edited, whatever the defaults become.
    static let baseline: DownloadRequest = {
        var request = DownloadRequest(
            url: RequestCoder.placeholder,
            destination: Destination(folder: "", fileName: nil, ifExists: .fail, createsFolders: true))
        request.destination.takesServerName = true
        request.destination.keepsRemoteTime = false
        request.destination.continues = false
        request.headers = []
        request.connections = DownloadRequest.automaticConnections
        request.priority = 0
        request.retry = RetryPolicy(limit: 5, delay: 1, maximumDelay: 60)
        request.redirect = RedirectPolicy(limit: 20)
        request.trust = .system
        request.http = HTTPOptions()
        request.secretFiles = SecretFiles()
        request.network = NetworkSettings()
        request.timeouts = DownloadRequest.Timeouts(connect: 15, stall: 30)
        request.acceptsUnverified = false
        request.validation = ResponseValidation(types: [], statuses: nil, maximumSize: nil)
        request.startsPaused = false
        request.mirrors = []
        request.followsMetalink = true
        request.repairs = false
        return request
    }()
}
