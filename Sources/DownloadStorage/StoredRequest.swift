import DownloadCore

/// A request as its column holds it: what it has of its own. What is missing is as in ``baseline``, so that the row of a
/// plain download says nothing at all. Rows of older versions name every field, and are read alike.
struct StoredRequest: Codable {
    private struct Place: Codable {
        let ifExists: Destination.IfExists?
        let createsFolders: Bool?
    }

    private let destination: Place?
    private let headers: [RequestHeader]?
    private let credential: Credential?
    private let checksum: Checksum?
    private let checksums: ChecksumList?
    private let connections: Int?
    private let rateLimit: Int64?
    private let retry: RetryPolicy?
    private let redirect: RedirectPolicy?
    private let trust: ServerTrustPolicy?
    private let timeouts: DownloadRequest.Timeouts?
    private let acceptsUnverified: Bool?
    private let hooks: Hooks?

    init(_ request: DownloadRequest) {
        let (place, usual) = (request.destination, Self.baseline.destination)
        let isUsual = place.ifExists == usual.ifExists && place.createsFolders == usual.createsFolders
        destination = isUsual ? nil : Place(ifExists: place.ifExists, createsFolders: place.createsFolders)
        headers = Self.own(request, \.headers)
        credential = request.credential
        checksum = request.checksum
        checksums = request.checksums
        connections = Self.own(request, \.connections)
        rateLimit = request.rateLimit
        retry = Self.own(request, \.retry)
        redirect = Self.own(request, \.redirect)
        trust = Self.own(request, \.trust)
        timeouts = Self.own(request, \.timeouts)
        acceptsUnverified = Self.own(request, \.acceptsUnverified)
        hooks = request.hooks
    }

    /// Without what has a column of its own.
    var request: DownloadRequest {
        var request = Self.baseline
        request.destination.ifExists = destination?.ifExists ?? request.destination.ifExists
        request.destination.createsFolders = destination?.createsFolders ?? request.destination.createsFolders
        request.headers = headers ?? request.headers
        request.credential = credential
        request.checksum = checksum
        request.checksums = checksums
        request.connections = connections ?? request.connections
        request.rateLimit = rateLimit
        request.retry = retry ?? request.retry
        request.redirect = redirect ?? request.redirect
        request.trust = trust ?? request.trust
        request.timeouts = timeouts ?? request.timeouts
        request.acceptsUnverified = acceptsUnverified ?? request.acceptsUnverified
        request.hooks = hooks
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
        request.headers = []
        request.connections = DownloadRequest.automaticConnections
        request.priority = 0
        request.retry = RetryPolicy(limit: 5, delay: 1, maximumDelay: 60)
        request.redirect = RedirectPolicy(limit: 20)
        request.trust = .system
        request.timeouts = DownloadRequest.Timeouts(connect: 15, stall: 30)
        request.acceptsUnverified = false
        return request
    }()
}
