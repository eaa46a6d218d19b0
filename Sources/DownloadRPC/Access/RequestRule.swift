import DownloadControl
import DownloadCore
import DownloadSystem

/// The rule for requests from the network. A client that knows the secret may download files. It may not run programs,
/// read files of this machine, or write outside of the permitted folders.
struct RequestRule: Sendable {
    let folders: FolderRule
    let permitsPrivateHosts: Bool

    static let schemes: Set<String> = ["http", "https", "ftp", "ftps", "sftp"]
    static let mostRequests = 10_000

    /// Checks a request, and returns it with its folder resolved and with the restrictions for network clients.
    /// - Throws: ``WireProblem`` if the request is not permitted.
    func checked(_ request: DownloadRequest) throws(WireProblem) -> DownloadRequest {
        for url in [request.url] + request.mirrors { try check(url) }
        if let hooks = request.hooks, !hooks.isEmpty {
            throw refused("hooks", "programs are not run for network clients")
        }
        try check(request.secretFiles)
        guard request.signedBy.allSatisfy(SigningKey.isText) else {
            throw refused("signedBy", "files of this machine are not read for network clients")
        }
        try check(memory: request.allowsRollback || request.trustsFirstUse)
        try check(request.trust)
        try check(request.headers)
        try check(request.http)
        try check(request.network)
        var request = request
        request.destination.folder = try folders.resolve(request.destination.folder)
        request.destination.followsLinks = false
        if let name = request.destination.fileName {
            let parts = try FolderRule.name(name)
            guard parts.folders.isEmpty else { throw WireProblem("file: not usable as a file name") }
        }
        if !permitsPrivateHosts { request.network.refusesPrivateAddresses = true }
        // For an sftp URL, dlm would log in with keys of this machine's user, even if the request names no key.
        if ([request.url] + request.mirrors).contains(where: { $0.scheme == "sftp" }) {
            request.trust.refusesOwnLogins = true
        }
        return request
    }

    /// Returns whether a network client could have added a download. Network clients may change where the bytes come
    /// from only for such a download. Other downloads may be saved anywhere, may run a program at their end, and may
    /// use files with secrets.
    func mightHaveAdded(_ request: DownloadRequest) -> Bool {
        guard let checked = try? checked(request) else { return false }
        return checked.network.refusesPrivateAddresses == request.network.refusesPrivateAddresses
            && checked.trust.refusesOwnLogins == request.trust.refusesOwnLogins
    }

    func check(_ overrides: RequestOverrides) throws(WireProblem) {
        try check(memory: overrides.allowsRollback || overrides.trustsFirstUse)
        try check(overrides.secretFiles)
        if let trust = overrides.trust { try check(trust) }
        try check(overrides.headers)
        try check(overrides.http)
        try check(overrides.network)
    }

    func check(_ url: SourceURL) throws(WireProblem) {
        guard Self.schemes.contains(url.scheme) else {
            throw WireProblem("url: \(url.scheme) is not permitted over the network")
        }
        // Only numeric addresses are checked here. The transport checks the addresses of host names and redirects.
        if !permitsPrivateHosts, PrivateAddress.contains(url.host) {
            throw WireProblem("url: \(url.host): \(PrivateAddress.refusal); see rpc-private-hosts")
        }
    }

    private func refused(_ field: String, _ why: String) -> WireProblem { WireProblem("\(field): refused; \(why)") }

    private func check(memory isChanged: Bool) throws(WireProblem) {
        guard !isChanged else {
            throw refused("allowsRollback, trustsFirstUse", "clients do not decide what is remembered of signatures")
        }
    }

    private func check(_ files: SecretFiles) throws(WireProblem) {
        guard files == SecretFiles() else {
            throw refused("secretFiles", "files of this machine are not read or written for network clients")
        }
    }

    private func check(_ trust: ServerTrustPolicy) throws(WireProblem) {
        let files = [
            trust.authorities, trust.revocations, trust.certificate, trust.privateKey, trust.knownHosts, trust.sshKey,
        ]
        let isKeyFile = trust.pinnedKey.map { !$0.hasPrefix("sha256//") } ?? false
        guard files.allSatisfy({ $0 == nil }), !isKeyFile else {
            throw refused("trust", "files of this machine are not read for network clients")
        }
    }

    private func check(_ headers: [RequestHeader]) throws(WireProblem) {
        for header in headers {
            guard Self.isOneLine(header.name), header.value.map(Self.isOneLine) ?? true else {
                throw WireProblem("headers: a field holds a line break or another control character")
            }
            guard !header.changesFraming, header.name.lowercased() != "host" else {
                throw refused("headers", "\(header.name) is set by this program")
            }
        }
    }

    private func check(_ http: HTTPOptions) throws(WireProblem) {
        // Both methods may log in with the Kerberos ticket of this machine's user.
        if http.authentication == .negotiate || http.authentication == .any {
            throw refused("http.authentication", "tickets of this machine's user are not used for the network")
        }
        for text in [http.userAgent, http.referer, http.method, http.signature] {
            guard text.map(Self.isOneLine) ?? true else {
                throw WireProblem("http: a field holds a line break or another control character")
            }
        }
    }

    private func check(_ network: NetworkSettings) throws(WireProblem) {
        for text in [network.proxy?.url, network.noProxy, network.interface, network.nameServer] {
            guard text.map(Self.isOneLine) ?? true else {
                throw WireProblem("network: a field holds a line break or another control character")
            }
        }
        guard network.interface == nil else {
            throw refused("network.interface", "the user of the machine sets it, with interface in config.yaml")
        }
        if permitsPrivateHosts { return }
        guard network.proxy == nil || network.proxy?.url == "", network.addresses == nil, network.nameServer == nil
        else {
            throw refused("network", "private hosts are not permitted, and a proxy or other addresses could lead there")
        }
    }

    static func isOneLine(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == UInt8(ascii: "\t") }
    }
}
