import DownloadControl
import DownloadCore

/// The download that options of aria2 describe, before it has its URLs.
struct Aria2Draft: Sendable {
    private(set) var gid: GID?
    private var folder: String
    private var name: (folders: [String], name: String)?
    private var changes: [@Sendable (inout DownloadRequest) -> Void] = []
    private var overrides = RequestOverrides()
    private var isHTTP: Bool
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
        self.folder = folder
        isHTTP = url.isHTTP
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
            // Unknown options are ignored, as in aria2.
            guard let option = Aria2Option.byName[name] else { continue }
            if option.isRefused { throw RPCError("The option '\(name)' is refused: \(option.reason)") }
            guard let effect = option.effect, value != .null else { continue }
            let texts = try Self.texts(value, name)
            if case .array = value, !effect.isList { throw Self.problem(name, "Give one value, not a list.") }
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
            if !text.isEmpty { folder = text }
            fixedOptions.append(name)
        case .name:
            if !text.isEmpty {
                self.name = try Self.rewording(name) { () throws(WireProblem) in try FolderRule.name(text) }
            }
            fixedOptions.append(name)
        case .identifier:
            guard let gid = GID(text) else { throw RPCError("Invalid GID \(text.prefix(64))") }
            self.gid = gid
            fixedOptions.append(name)
        case .startsPaused:
            let isPaused = try truth(text, name)
            changes.append { $0.startsPaused = isPaused }
        case .connectionsPerServer: connectionsPerServer = Int(try number(text, name, 1...64))
        case .split: split = Int(try number(text, name, 1 ... .max).clamped(to: 1...64))
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
        let isKnown = changes.count + ifExists.count
        defer { if changes.count + ifExists.count > isKnown { fixedOptions.append(name) } }
        switch effect {
        case .retries:
            let limit = Int(try number(text, name, 0...1_000_000))
            changes.append { $0.retry.limit = limit == 0 ? Self.unlimitedRetries : limit - 1 }
        case .retryDelay:
            let delay = Double(try number(text, name, 0...86_400))
            if delay > 0 { changes.append { $0.retry.delay = .seconds(delay) } }
        case .connectTimeout:
            let seconds = Double(try number(text, name, 1...86_400))
            changes.append { $0.timeouts.connect = .seconds(seconds) }
        case .stallTimeout:
            let seconds = Double(try number(text, name, 1...86_400))
            changes.append { $0.timeouts.stall = .seconds(seconds) }
        case .checksum:
            if text.isEmpty { return }
            guard let checksum = Checksum(text) else { throw Self.problem(name, "Give it as sha-256=HEX.") }
            changes.append { $0.checksum = checksum }
        case .followsMetalink:
            let follows = text == "mem" ? true : try truth(text, name)
            changes.append { $0.followsMetalink = follows }
        case .location:
            let country = text.split(separator: ",").first.map { $0.lowercased() }
            if let country, country.utf8.count == 2 { changes.append { $0.location = country } }
        case .renames: if try !truth(text, name) { ifExists.append(.fail) } else { ifExists.append(.rename) }
        case .overwrites: if try truth(text, name) { ifExists.append(.overwrite) }
        case .conditional: if try truth(text, name) { ifExists.append(.newer) }
        case .continues:
            let continues = try truth(text, name)
            changes.append { $0.destination.continues = continues }
        case .remoteTime:
            let keeps = try truth(text, name)
            changes.append { $0.destination.keepsRemoteTime = keeps }
        default: try applyOverride(effect, texts, name)
        }
    }

    /// Applies an option that may also be given when a download is resumed.
    private mutating func applyOverride(
        _ effect: Aria2Option.Effect, _ texts: [String], _ name: String
    ) throws(RPCError) {
        let text = texts.last ?? ""
        guard texts.allSatisfy({ RequestRule.isOneLine($0) || effect.isList }) else {
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
        case .userName(let isHTTP): if isHTTP == self.isHTTP, !text.isEmpty { user = text }
        case .password(let isHTTP): if isHTTP == self.isHTTP { password = text }
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

    private static func rewording<Value>(
        _ name: String, _ body: () throws(WireProblem) -> Value
    ) throws(RPCError) -> Value {
        do { return try body() } catch { throw problem(name, RPCError(error).message) }
    }

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
        var request = DownloadRequest(url: first.url, destination: Destination(folder: folder, ifExists: .rename))
        for folder in name?.folders ?? [] {
            request.destination.folder = FileNaming.path(request.destination.folder, folder)
        }
        request.destination.fileName = name?.name
        request.mirrors = urls.dropFirst().map(\.url)
        request.credential = first.credential
        if ifExists.contains(.overwrite) {
            request.destination.ifExists = .overwrite
        } else if ifExists.contains(.newer) {
            request.destination.ifExists = .newer
        } else if ifExists.contains(.fail) {
            request.destination.ifExists = .fail
        }
        if let rateLimit { request.rateLimit = rateLimit }
        for change in changes { change(&request) }
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

extension Aria2Option.Effect {
    /// Whether each line of the option's text is a value.
    fileprivate var isList: Bool { if case .header = self { true } else { false } }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
