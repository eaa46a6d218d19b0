import DownloadCore

/// The download that options of aria2 describe, before it has its URLs.
struct Aria2Draft: Sendable {
    private(set) var gid: GID?
    /// The request so far, for a single URL.
    private var request: DownloadRequest
    private var name: (folders: [String], name: String)?
    private var overrides = RequestOverrides()
    private var connectionsPerServer: Int?
    private var split: Int?
    private var (user, password): (String?, String?) = (nil, nil)
    private var proxy = (url: String?.none, user: String?.none, password: String?.none)
    private var ifExists: [Destination.IfExists] = []
    private(set) var rateLimit: Int64??
    /// The names of the given options that cannot be changed once the download exists.
    private(set) var fixedOptions: [String] = []

    /// - Parameters:
    ///   - options: The options of the session, overridden by the options of the call.
    ///   - url: The URL of the download. Its scheme decides which of the names and passwords are used.
    /// - Throws: ``RPCError``, with aria2's message where aria2 has one. The message for a refused option, and the
    ///   advice after a message, are dlm's own.
    init(_ options: [String: JSONValue], folder: String, url: SourceURL) throws(RPCError) {
        request = DownloadRequest(url: url, destination: Destination(folder: folder))
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
            // Unknown options are ignored, as in aria2.
            guard let option = Aria2Option.byName[name] else { continue }
            try option.requirePermitted()
            guard let effect = option.effect, value != .null else { continue }
            let texts = try Self.texts(value, name)
            if case .array = value, effect != .header { throw Self.problem(name, "Give one value, not a list.") }
            try apply(effect, texts, name)
        }
    }

    /// Returns the values of an option as texts. An option may have one value, or several in a list.
    private static func texts(_ value: JSONValue, _ name: String) throws(RPCError) -> [String] {
        switch value {
        case .string(let text): [text]
        case .array(let values): values.compactMap(\.text)
        case .integer(let number): [String(number)]
        case .bool(let truth): [truth ? "true" : "false"]
        default: throw problem(name)
        }
    }

    static func problem(_ name: String, _ why: String = "") -> RPCError {
        RPCError("We encountered a problem while processing the option '--\(name)'." + (why.isEmpty ? "" : " \(why)"))
    }

    private mutating func apply(_ effect: Aria2Option.Effect, _ texts: [String], _ name: String) throws(RPCError) {
        let text = texts.last ?? ""
        switch effect {
        case .directory:
            if !text.isEmpty { request.destination.folder = text }
            fixedOptions.append(name)
        case .name:
            if !text.isEmpty {
                do { self.name = try FolderRule.name(text) } catch { throw Self.problem(name, RPCError(error).message) }
            }
            fixedOptions.append(name)
        case .identifier:
            guard let gid = GID(text) else { throw RPCError("Invalid GID \(text.prefix(64))") }
            self.gid = gid
            fixedOptions.append(name)
        case .startsPaused: request.startsPaused = try truth(text, name)
        case .connectionsPerServer: connectionsPerServer = Int(try number(text, name, 1...64))
        case .split: split = Int(min(64, try number(text, name, 1 ... .max)))
        case .rateLimit:
            let limit = try Self.size(text, name)
            rateLimit = .some(limit > 0 ? limit : nil)
        case .overallRateLimit, .concurrentDownloads: break
        default: try applyRequest(effect, texts, name)
        }
    }

    /// The number that stands for an automatic number of connections, if both options have it.
    static let automatic = 6

    /// The number of retries for aria2's `max-tries=0`, which means no limit.
    private static let unlimitedRetries = 1_000_000

    /// Returns the value of `max-tries` for these retries.
    static func tries(of retry: RetryPolicy) -> Int {
        retry.limit >= unlimitedRetries ? 0 : retry.limit + 1
    }

    private mutating func applyRequest(
        _ effect: Aria2Option.Effect, _ texts: [String], _ name: String
    ) throws(RPCError) {
        let text = texts.last ?? ""
        switch effect {
        case .retries:
            let limit = Int(try number(text, name, 0...1_000_000))
            request.retry.limit = limit == 0 ? Self.unlimitedRetries : limit - 1
        case .retryDelay:
            let delay = Double(try number(text, name, 0...86_400))
            if delay == 0 { return }
            request.retry.delay = .seconds(delay)
        case .connectTimeout: request.timeouts.connect = .seconds(Double(try number(text, name, 1...86_400)))
        case .stallTimeout: request.timeouts.stall = .seconds(Double(try number(text, name, 1...86_400)))
        case .checksum:
            if text.isEmpty { return }
            guard let checksum = Checksum(text) else { throw Self.problem(name, "Give it as sha-256=HEX.") }
            request.checksum = checksum
        case .followsMetalink: request.followsMetalink = text == "mem" ? true : try truth(text, name)
        case .location:
            guard let country = text.split(separator: ",").first?.lowercased(), country.utf8.count == 2 else { return }
            request.location = country
        case .renames: ifExists.append(try truth(text, name) ? .rename : .fail)
        case .overwrites:
            guard try truth(text, name) else { return }
            ifExists.append(.overwrite)
        case .conditional:
            guard try truth(text, name) else { return }
            ifExists.append(.newer)
        case .continues: request.destination.continues = try truth(text, name)
        case .remoteTime: request.destination.keepsRemoteTime = try truth(text, name)
        default: return try applyOverride(effect, texts, name)
        }
        fixedOptions.append(name)
    }

    /// Applies an option that may also be given when a download is resumed.
    private mutating func applyOverride(
        _ effect: Aria2Option.Effect, _ texts: [String], _ name: String
    ) throws(RPCError) {
        let text = texts.last ?? ""
        guard texts.allSatisfy({ RequestRule.isOneLine($0) || effect == .header }) else {
            throw Self.problem(name, "It holds a line break or another control character.")
        }
        switch effect {
        case .header:
            // A text may have several header fields in lines, because `getOption` answers them in this form.
            for line in texts.flatMap({ $0.split(separator: "\n") }) {
                guard let header = RequestHeader(String(line)) else {
                    throw Self.problem(name, "Give it as 'Name: value', without control characters.")
                }
                overrides.headers.append(header)
            }
        case .userAgent: if !text.isEmpty { overrides.http.userAgent = text }
        case .referer: if !text.isEmpty { overrides.http.referer = text }
        case .acceptsCompressed: if try truth(text, name) { overrides.http.acceptsCompressed = true }
        case .userName(let isHTTP): if isHTTP == request.url.isHTTP, !text.isEmpty { user = text }
        case .password(let isHTTP): if isHTTP == request.url.isHTTP { password = text }
        case .proxy:
            if text.isEmpty { break }
            do throws(ProxyAddress.ParseError) {
                let address = try ProxyAddress.parse(text)
                proxy.url = address.url
                if let credential = address.credential {
                    (proxy.user, proxy.password) = (credential.user, credential.password)
                }
            } catch {
                throw Self.problem(name, error.words)
            }
        case .proxyUser: proxy.user = text
        case .proxyPassword: proxy.password = text
        case .noProxy: if !text.isEmpty { overrides.network.noProxy = text }
        case .verifiesServer: if try !truth(text, name) { overrides.trust = .insecure }
        case .minimumTLS:
            switch text {
            case "", "TLSv1.2", "TLSv1.1", "TLSv1": break
            case "TLSv1.3":
                var trust = overrides.trust ?? .system
                trust.minimumTLS = .tls13
                overrides.trust = trust
            default: throw Self.problem(name)
            }
        default: break
        }
    }

    // MARK: Values

    private func truth(_ text: String, _ name: String) throws(RPCError) -> Bool {
        switch text {
        case "true": true
        case "false", "": false
        default: throw Self.problem(name, "Give true or false.")
        }
    }

    private func number(_ text: String, _ name: String, _ range: ClosedRange<Int64>) throws(RPCError) -> Int64 {
        guard let number = Int64(text), range.contains(number) else { throw Self.problem(name) }
        return number
    }

    /// Reads a number of bytes such as `500`, `500K` or `2M`.
    static func size(_ text: String, _ name: String) throws(RPCError) -> Int64 {
        var digits = Substring(text)
        var unit: Int64 = 1
        if let last = text.last, last.isLetter {
            guard let factor = ["K": Int64(1 << 10), "M": 1 << 20, "G": 1 << 30][last.uppercased()] else {
                throw problem(name)
            }
            unit = factor
            digits = digits.dropLast()
        }
        guard let number = Int64(digits), number >= 0, number <= Int64.max / unit else { throw problem(name) }
        return number * unit
    }

    // MARK: Results

    /// Returns the request for these URLs. The URLs after the first are mirrors.
    func request(_ urls: [(url: SourceURL, credential: Credential?)]) throws(RPCError) -> DownloadRequest {
        guard let first = urls.first else { throw RPCError("URI is not provided.") }
        var request = request
        request.url = first.url
        for folder in name?.folders ?? [] {
            request.destination.folder = FileNaming.path(request.destination.folder, folder)
        }
        request.destination.fileName = name?.name
        request.destination.ifExists = [.overwrite, .newer, .fail].first { ifExists.contains($0) } ?? .rename
        request.mirrors = urls.dropFirst().map(\.url)
        request.credential = first.credential
        if let rateLimit { request.rateLimit = rateLimit }
        return resumption.applied(to: request)
    }

    /// The options that may be given when a download is resumed.
    var resumption: RequestOverrides {
        var overrides = overrides
        if connectionsPerServer != nil || split != nil {
            // Clients send back the numbers that `getOption` has answered for an automatic number.
            let isAutomatic = connectionsPerServer == Self.automatic && split == Self.automatic
            overrides.connections =
                isAutomatic
                ? .upTo(Self.automatic) : .fixed(min(connectionsPerServer ?? 64, split ?? 64))
        }
        if let user { overrides.credential = Credential(user: user, password: password ?? "") }
        if let url = proxy.url {
            let credential = proxy.user.flatMap {
                $0.isEmpty ? nil : Credential(user: $0, password: proxy.password ?? "")
            }
            overrides.network.proxy = ProxyAddress(url: url, credential: credential)
        }
        return overrides
    }
}
