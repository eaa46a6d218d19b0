import DownloadCore
import Foundation

/// `POST /v1/downloads`: URLs that share everything else, or several such groups. Secrets travel here, and only here.
struct WireAdd: Sendable {
    let groups: [WireGroup]
    /// The answer is to be as short as it can be: see ``WireAddedList``.
    var isBrief = false
}

extension WireAdd: Decodable {
    private enum Key: String, CodingKey {
        case groups
        case isBrief = "brief"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        groups = try values.decodeIfPresent([WireGroup].self, forKey: .groups) ?? [WireGroup(from: decoder)]
        isBrief = try values.decodeIfPresent(Bool.self, forKey: .isBrief) ?? false
    }
}

extension WireAdd {
    /// As ``WireCoder`` decodes it.
    static func read(_ document: Data) throws -> WireAdd {
        if let array = URLArray(in: document), let add = try? WireCoder.decode(WireAdd.self, array.rest),
            add.groups.count == 1, var group = add.groups.first
        {
            group.urls = array.urls
            return WireAdd(groups: [group], isBrief: add.isBrief)
        }
        return try WireCoder.decode(WireAdd.self, document)
    }

    /// Its text. The URLs are written here: the encoder takes several times as long for them.
    func json() throws -> Data {
        var text = Data(isBrief ? #"{"brief":true,"groups":["#.utf8 : #"{"groups":["#.utf8)
        for (index, group) in groups.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            try group.write(to: &text)
        }
        text.append(contentsOf: "]}".utf8)
        return text
    }
}

/// URLs and what is wanted of each; what is left out has the default of `DownloadRequest`.
struct WireGroup: Codable, Sendable {
    var urls: [String]
    let folder: String
    let file: String?
    let ifExists: Destination.IfExists?
    let createsFolders: Bool?
    let contentDisposition: Bool?
    let remoteTime: Bool?
    let `continue`: Bool?
    let paused: Bool?
    let schedule: DownloadSchedule?
    /// Seconds.
    let wait: Double?
    /// Media types; the other two as they are written on the command line.
    let expectType: [String]?
    let expectStatus: String?
    let retryOn: String?
    let maxSize: Int64?
    let maxTime: Double?
    /// `["Name", "value"]`; the name alone is a secret that was not given again.
    let headers: [[String]]?
    let user: String?
    let password: String?
    let checksum: String?
    let checksums: ChecksumList?
    let connections: Int?
    /// The most connections where `connections` is 0.
    let connectionLimit: Int?
    let priority: Int?
    let rateLimit: Int64?
    let insecure: Bool?
    let acceptsUnverified: Bool?
    let retries: Int?
    let retryDelay: Double?
    let retryMaximumDelay: Double?
    let connectTimeout: Double?
    let stallTimeout: Double?
    let maxRedirects: Int?
    /// Absolute paths of programs.
    let onComplete: String?
    let onError: String?
    /// For a shell.
    let urlCommand: String?
    let hookTimeout: Double?
    let options: WireOptions?
    let mirrors: [String]?
    let size: Int64?
    let pieces: PieceHashes?
    let followMetalink: Bool?
    let location: String?
    let repair: Bool?

    init(_ request: DownloadRequest) {
        urls = [request.url.string]
        folder = request.destination.folder
        file = request.destination.fileName
        ifExists = request.destination.ifExists
        createsFolders = request.destination.createsFolders
        headers = request.headers.isEmpty ? nil : request.headers.map(\.wire)
        user = request.credential?.user
        password = request.credential?.password
        checksum = request.checksum?.description
        checksums = request.checksums
        connections = request.connectionsWithoutLimit
        connectionLimit = request.connectionLimit
        priority = request.priority
        rateLimit = request.rateLimit
        insecure = !request.trust.verifiesServer
        acceptsUnverified = request.acceptsUnverified ? true : nil
        retries = request.retry.limit
        retryDelay = request.retry.delay
        retryMaximumDelay = request.retry.maximumDelay
        connectTimeout = request.timeouts.connect
        stallTimeout = request.timeouts.stall
        maxRedirects = request.redirect.limit
        contentDisposition = request.destination.takesServerName ? nil : false
        remoteTime = request.destination.keepsRemoteTime ? true : nil
        `continue` = request.destination.continues ? true : nil
        paused = request.startsPaused ? true : nil
        schedule = request.schedule
        wait = request.pacing
        expectType = request.validation.types.isEmpty ? nil : request.validation.types.map(\.description)
        expectStatus = request.validation.statuses?.description
        retryOn = request.retry.statuses?.description
        maxSize = request.validation.maximumSize
        maxTime = request.timeouts.total
        onComplete = request.hooks?.onComplete
        onError = request.hooks?.onError
        urlCommand = request.hooks?.urlCommand
        hookTimeout = request.hooks?.timeLimit
        mirrors = request.mirrors.isEmpty ? nil : request.mirrors.map(\.string)
        size = request.size
        pieces = request.pieces.flatMap { $0.carriedSize > PieceHashes.longestCarried ? nil : $0 }
        followMetalink = request.followsMetalink ? nil : false
        location = request.location
        repair = request.repairs ? true : nil
        options = WireOptions(
            http: request.http, secretFiles: request.secretFiles, trust: request.trust, network: request.network,
            schemes: request.redirect.schemes)
    }

    fileprivate func write(to text: inout Data) throws {
        var others = self
        others.urls = []
        let frame = try WireCoder.encode(others)
        // Behind it comes at most the user, and in a string a quote would be escaped.
        guard let gap = frame.range(of: Data(#""urls":[]"#.utf8), options: .backwards) else {
            return text.append(try WireCoder.encode(self))
        }
        text.append(frame[..<(gap.upperBound - 1)])
        for (index, url) in urls.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            if url.utf8.allSatisfy(Self.isUnescaped) {
                text.append(UInt8(ascii: "\""))
                text.append(contentsOf: url.utf8)
                text.append(UInt8(ascii: "\""))
            } else {
                text.append(try WireCoder.encode(url))
            }
        }
        text.append(frame[(gap.upperBound - 1)...])
    }

    /// As it stands in JSON.
    private static func isUnescaped(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// In order.
    func requests() throws(WireProblem) -> [DownloadRequest] {
        guard let first = urls.first else { throw WireProblem("urls: give at least one") }
        var template = DownloadRequest(url: try Self.url(first).url, destination: try destination())
        try fill(&template)
        var requests: [DownloadRequest] = []
        requests.reserveCapacity(urls.count)
        for text in urls {
            let parsed = try Self.url(text)
            requests.append(template)
            requests[requests.count - 1].url = parsed.url
            if template.credential == nil, parsed.credential != nil {
                requests[requests.count - 1].credential = parsed.credential
            }
        }
        return requests
    }

    private func destination() throws(WireProblem) -> Destination {
        guard folder.hasPrefix("/"), !folder.utf8.contains(0) else {
            throw WireProblem("folder: give an absolute path")
        }
        if let file, !FileNaming.isUsable(file) { throw WireProblem("file: not usable as a file name") }
        var destination = Destination(
            folder: folder, fileName: file, ifExists: ifExists ?? .fail, createsFolders: createsFolders ?? true)
        destination.takesServerName = contentDisposition ?? true
        destination.keepsRemoteTime = remoteTime ?? false
        destination.continues = `continue` ?? false
        return destination
    }

    private func fill(_ request: inout DownloadRequest) throws(WireProblem) {
        request.headers = try RequestHeader.fields(headers ?? [])
        if let user { request.credential = Credential(user: user, password: password) }
        if let checksum {
            guard let parsed = Checksum(checksum) else { throw WireProblem("checksum: give it as sha256:HEX") }
            request.checksum = parsed
        }
        if let checksums {
            guard checksums.entries.count <= ChecksumList.longestCarried else {
                throw WireProblem("checksums: more than \(ChecksumList.longestCarried) entries")
            }
            request.checksums = checksums
        }
        request.connections =
            try WireConnections.number(connections, limit: connectionLimit) ?? request.connections
        request.priority = priority ?? request.priority
        if let rateLimit = try rateLimit.within(0 ... .max, "rateLimit"), rateLimit > 0 {
            request.rateLimit = rateLimit
        }
        if insecure == true { request.trust = .insecure }
        if let options {
            request.http = options.givenHTTP
            request.secretFiles = options.secretFiles ?? request.secretFiles
            request.trust = options.trust ?? request.trust
            request.network = options.givenNetwork
            request.redirect.schemes = options.schemes
        }
        request.acceptsUnverified = acceptsUnverified ?? false
        request.retry.limit = try retries.within(0 ... .max, "retries") ?? request.retry.limit
        request.retry.delay = try retryDelay.within(0...1e9, "retryDelay") ?? request.retry.delay
        request.retry.maximumDelay =
            try retryMaximumDelay.within(0...1e9, "retryMaximumDelay") ?? request.retry.maximumDelay
        request.timeouts.connect =
            try connectTimeout.within(0.001 ... .infinity, "connectTimeout") ?? request.timeouts.connect
        request.timeouts.stall = try stallTimeout.within(0.001 ... .infinity, "stallTimeout") ?? request.timeouts.stall
        request.redirect.limit = try maxRedirects.within(0 ... .max, "maxRedirects") ?? request.redirect.limit
        request.hooks = try hooks()
        request.mirrors = try Self.mirrors(mirrors ?? [])
        request.size = try size.within(0 ... .max, "size")
        request.pieces = pieces
        request.followsMetalink = followMetalink ?? true
        request.location = location
        request.repairs = repair ?? false
        request.retry.statuses = try Self.codes(retryOn, "retryOn")
        request.timeouts.total = try maxTime.within(0.001...1e9, "maxTime")
        request.startsPaused = paused ?? false
        request.schedule = schedule
        request.pacing = try wait.within(0.001...1e9, "wait")
        request.validation = ResponseValidation(
            types: try types(), statuses: try Self.codes(expectStatus, "expectStatus"),
            maximumSize: try maxSize.within(0 ... .max, "maxSize"))
    }

    private static func mirrors(_ texts: [String]) throws(WireProblem) -> [SourceURL] {
        var mirrors: [SourceURL] = []
        for text in texts {
            let parsed = try url(text)
            if parsed.credential != nil { throw WireProblem("mirrors: credentials go to the first URL alone") }
            mirrors.append(parsed.url)
        }
        return mirrors
    }

    private func types() throws(WireProblem) -> [MediaRange] {
        var types: [MediaRange] = []
        for text in expectType ?? [] {
            guard let type = MediaRange(text) else { throw WireProblem("expectType: give it as application/zip") }
            types.append(type)
        }
        return types
    }

    private static func codes(_ text: String?, _ field: String) throws(WireProblem) -> StatusCodes? {
        guard let text else { return nil }
        guard let codes = StatusCodes(text) else { throw WireProblem("\(field): give it as 403,520-529") }
        return codes
    }

    private func hooks() throws(WireProblem) -> Hooks? {
        if onComplete == nil, onError == nil, urlCommand == nil { return nil }
        for (program, name) in [(onComplete, "onComplete"), (onError, "onError")] {
            guard let program else { continue }
            guard program.hasPrefix("/"), !program.utf8.contains(0) else {
                throw WireProblem("\(name): give an absolute path")
            }
        }
        let limit = try hookTimeout.within(Hooks.possibleTimeLimits, "hookTimeout")
        return Hooks(onComplete: onComplete, onError: onError, urlCommand: urlCommand, timeLimit: limit)
    }

    static func url(_ text: String) throws(WireProblem) -> (url: SourceURL, credential: Credential?) {
        switch SourceURL.parse(text) {
        case .success(let parsed): return parsed
        case .failure(let failure): throw WireProblem(failure, text)
        }
    }
}
