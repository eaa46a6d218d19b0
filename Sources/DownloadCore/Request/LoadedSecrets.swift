import HTTPTypes

/// What the files that a request refers to say, from the beginning of an attempt to its end.
package struct LoadedSecrets: Sendable, Equatable {
    private var netrc: Netrc?
    private var token: String?
    /// Those of the user's files, and what this attempt has learned.
    private(set) var cookies = CookieList()
    /// What servers set during the session; nil where a file of the user's takes that.
    private var memory: CookieMemory?

    /// Of a request that refers to none.
    init() {}

    init(_ files: SecretFiles) throws(DownloadError) {
        if files.isEmpty { return }
        if let path = files.netrc { netrc = Netrc(try SecretFile.read(path)) }
        if let path = files.bearer { token = try Self.token(in: path) }
        if files.cookies != nil || files.cookieJar != nil { cookies = try CookieList(files) }
    }

    /// - Parameter memory: of the download; nil where what servers set is forgotten with these secrets.
    init(memory: CookieMemory?) { self.memory = memory }

    /// Uses what servers set during the session, too.
    mutating func remember(_ memory: CookieMemory?) { self.memory = memory }

    /// Returns the cookies that may be for the host, as lines in Netscape's format.
    func cookieLines(for host: String) -> [String] {
        let lines = cookies.lines(for: host)
        return memory?.applied(to: lines, for: host) ?? lines
    }

    /// Records what a transfer changed.
    mutating func learn(_ known: TransferResult.KnownCookies?) {
        guard let known, !known.lines.isEmpty || !known.sent.isEmpty else { return }
        cookies.learn(known)
        memory?.learn(known)
    }

    /// Runs what is to be run, too.
    static func load(_ files: SecretFiles, _ time: any TimeSource) async throws(DownloadError) -> LoadedSecrets {
        var secrets = try LoadedSecrets(files)
        if let path = files.bearerCommand {
            secrets.token = try token(of: try await SecretCommand.output(of: path, time), path)
        }
        return secrets
    }

    /// Finds out beforehand what is wrong with them. What can be read but once is left to whoever needs it.
    package static func check(_ files: SecretFiles) throws(DownloadError) {
        var files = files
        func mayBeRead(_ path: String) -> Bool { FileStatus.of(path)?.isRegular ?? true }
        files.netrc = files.netrc.flatMap { mayBeRead($0) ? $0 : nil }
        files.bearer = files.bearer.flatMap { mayBeRead($0) ? $0 : nil }
        files.cookies = files.cookies.flatMap { mayBeRead($0) ? $0 : nil }
        _ = try LoadedSecrets(files)
    }

    private static func token(in path: String) throws(DownloadError) -> String {
        try token(of: try SecretFile.read(path), path)
    }

    private static func token(of text: [UInt8], _ path: String) throws(DownloadError) -> String {
        let isSpace = { (byte: UInt8) in byte == 32 || (9...13).contains(byte) }
        let bytes = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .requestInvalid(.unusableSecret("\(path): holds no token; a token is one word"))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Who asks; what was given with the request comes before what a file says.
    func credential(for route: RequestRoute, of request: DownloadRequest) -> Credential? {
        let given = route.sendsCredentials ? request.credential : nil
        guard let netrc, given == nil || given?.password == "" else { return given }
        // A host that a redirect names may have an entry of its own.
        return netrc.credential(for: route.url.host, user: given?.user, allowsDefault: route.sendsCredentials) ?? given
    }

    func authorization(for route: RequestRoute) -> String? {
        route.sendsCredentials ? token.map { "Bearer \($0)" } : nil
    }

    /// To be taken out of what a server says.
    var values: [String] { (netrc?.passwords ?? []) + (token.map { [$0] } ?? []) + cookies.values }
}
