import DownloadCore
import Foundation

extension DownloadRequest {
    /// Returns a request in which no property, and no property of an object in it, has its default. If a form of
    /// requests lacks a property, a conversion to this form and back loses the property's value.
    /// ``sameProperties(as:)`` finds properties that are forgotten here.
    /// - Parameter secrets: whether to include the properties that are never stored.
    package static func unusual(secrets: Bool) throws -> DownloadRequest {
        func url(_ text: String) throws -> SourceURL { try SourceURL.parse(text).get().url }
        let password = secrets ? "hunter2" : nil
        var request = DownloadRequest(
            url: try url("https://example.org/a?x=1"),
            destination: Destination(folder: "/srv/data", fileName: "a.bin", ifExists: .rename, createsFolders: false))
        request.destination.takesServerName = false
        request.destination.keepsRemoteTime = true
        request.destination.followsLinks = false
        request.destination.continues = true
        request.mirrors = [try url("https://example.net/a")]
        request.size = 7
        request.pieces = PieceHashes(algorithm: .md5, length: 1 << 10, digests: [String(repeating: "ab", count: 16)])
        request.followsMetalink = false
        request.location = "de"
        request.repairs = true
        request.keepsCompleted = true
        request.headers = [RequestHeader(name: "X-Purpose", value: "é \"quoted\" \\")]
        if secrets { request.headers.append(RequestHeader(name: "Authorization", value: password)) }
        request.credential = Credential(user: "me", password: password)
        request.checksum = Checksum(algorithm: .md5, digest: String(repeating: "ab", count: 16))
        request.checksums = try ChecksumList(Array("\(String(repeating: "cd", count: 16))  a".utf8), source: "MD5SUMS")
        request.proof = .require
        request.signedBy = ["/keys"]
        (request.allowsRollback, request.trustsFirstUse) = (true, true)
        request.connections = 4
        request.priority = -3
        request.rateLimit = 500_000
        request.retry = RetryPolicy(
            limit: 9, delay: .seconds(0.25), maximumDelay: .seconds(1e15), maximumHostPause: .seconds(77),
            statuses: StatusCodes("403,520-529"))
        request.redirect = RedirectPolicy(limit: 3, schemes: ["https"])
        request.timeouts = Timeouts(connect: .seconds(1.5), stall: .seconds(1e15), total: .seconds(3600))
        request.acceptsUnverified = true
        request.validation = ResponseValidation(
            types: ["image/*"].compactMap { MediaRange($0) }, statuses: StatusCodes("200,203"), maximumSize: 7)
        request.startsPaused = true
        var hooks = Hooks(
            onComplete: "/usr/bin/true", onError: "/usr/bin/false", urlCommand: "new link", timeLimit: 1.5)
        hooks.completeURL = "https://example.org/hook"
        hooks.completeBearerFile = "/token"
        hooks.notifies = true
        request.hooks = hooks
        request.schedule = DownloadSchedule(
            start: Date(timeIntervalSince1970: 0.5), windows: [TimeWindow("Mon-Fri 22:00-06:00")].compactMap(\.self),
            timeZone: "Europe/Berlin")
        request.pacing = 2.5
        request.setUnusualGroups(password: password)
        return request
    }

    /// Sets the properties that a session finds out by itself. No user asks for them.
    package mutating func describe() throws {
        describedName = "a"
        describedBy = try SourceURL.parse("https://example.org/a.meta4").get().url
    }

    private mutating func setUnusualGroups(password: String?) {
        http.method = "PUT"
        http.body = RequestBody(password.map { Array($0.utf8) })
        http.userAgent = "me"
        http.referer = ""
        http.acceptsCompressed = true
        http.authentication = .digest
        http.signature = "aws:amz"
        http.upgradesKnownHosts = false
        secretFiles.netrc = "/n"
        secretFiles.bearer = "/b"
        secretFiles.bearerCommand = "/bc"
        secretFiles.cookies = "/c"
        secretFiles.cookieJar = "/j"
        trust = .insecure
        trust.authorities = "/ca"
        trust.revocations = "/crl"
        trust.certificate = "/cert"
        trust.privateKey = "/key"
        trust.pinnedKey = "/pin"
        trust.minimumTLS = .tls13
        trust.knownHosts = "/hosts"
        trust.sshKey = "/ssh"
        trust.ftpTLS = .required
        trust.refusesOwnLogins = true
        network.proxy = ProxyAddress(url: "http://p:1", credential: Credential(user: "you", password: password))
        network.noProxy = "a,b"
        network.interface = "lo"
        network.addressFamily = .ipv6
        network.httpVersion = .http2
        network.addresses = [PinnedAddress(host: "a", port: 443, address: "[::1]")]
        network.nameServer = "https://dns/q"
        network.dnsCacheTime = 600
        network.refusesPrivateAddresses = true
    }

    /// Returns the properties that have the same value in both requests, such as `retry.limit`. Reflection also
    /// finds properties that nobody thought of.
    package func sameProperties(as other: DownloadRequest) -> [String] { Self.same(self, other, "") }

    /// Returns whether the properties of a value are compared one by one.
    private static func isGroup(_ value: Any) -> Bool {
        value is DownloadRequest || value is Destination || value is RetryPolicy || value is RedirectPolicy
            || value is Timeouts || value is ResponseValidation || value is HTTPOptions || value is SecretFiles
            || value is ServerTrustPolicy || value is NetworkSettings || value is Hooks
    }

    private static func same(_ value: Any, _ other: Any, _ path: String) -> [String] {
        // Compare the contents of a property wrapper or an optional.
        let (value, other) = (unwrapped(value), unwrapped(other))
        guard isGroup(value), isGroup(other) else { return "\(value)" == "\(other)" ? [path] : [] }
        return zip(Mirror(reflecting: value).children, Mirror(reflecting: other).children).flatMap { field, other in
            // The label of a wrapped property begins with an underscore.
            same(
                field.value, other.value,
                (path.isEmpty ? "" : path + ".") + (field.label ?? "").drop { $0 == "_" })
        }
    }

    private static func unwrapped(_ value: Any) -> Any {
        switch value {
        case let box as Boxed<HTTPOptions>: box.wrappedValue
        case let box as Boxed<SecretFiles>: box.wrappedValue
        case let box as Boxed<ServerTrustPolicy>: box.wrappedValue
        case let box as Boxed<NetworkSettings>: box.wrappedValue
        // The type is compared exactly, because any other optional without a value could be cast to this type, too.
        case let hooks as Hooks? where type(of: value) == Hooks?.self: hooks ?? Hooks()
        default: value
        }
    }
}
