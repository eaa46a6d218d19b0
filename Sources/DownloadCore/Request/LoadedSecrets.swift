import HTTPTypes

/// The secrets that an attempt has loaded from the files that its request refers to.
package struct LoadedSecrets: Sendable, Equatable {
    package var netrc: Netrc?
    package var token: String?
    /// The cookies of the user's files, with the changes that servers made during this attempt.
    package var cookies = CookieList()
    /// The cookies that servers set during the session. Nil if a cookie jar of the user takes them.
    package var memory: CookieMemory?

    /// Makes secrets without files.
    /// - Parameter memory: The session's cookies for the download. Nil if cookies that servers set are forgotten with
    ///   these secrets.
    package init(memory: CookieMemory? = nil) { self.memory = memory }

    /// Returns the cookies that may be for the host, as lines in Netscape's format.
    package func cookieLines(for host: String) -> [String] {
        let lines = cookies.lines(for: host)
        return memory?.applied(to: lines, for: host) ?? lines
    }

    /// Records the cookies that a transfer changed.
    package mutating func learn(_ known: TransferResult.KnownCookies?) {
        guard let known, !known.lines.isEmpty || !known.sent.isEmpty else { return }
        cookies.learn(known)
        memory?.learn(known)
    }

    /// Returns the token in a file, or in the output of a command.
    package static func token(of text: [UInt8], _ path: String) throws(DownloadError) -> String {
        let bytes = text.trimming(\.isSpace)
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .requestInvalid(.unusableSecret("\(path): holds no token; a token is one word"))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the user and password for a request. A credential given with the request comes before an entry of the
    /// netrc file.
    func credential(for route: RequestRoute, of request: DownloadRequest) -> Credential? {
        let given = route.sendsCredentials ? request.credential : nil
        guard let netrc, given == nil || given?.password == "" else { return given }
        // A host that a redirect leads to may have its own entry.
        return netrc.credential(for: route.url.host, user: given?.user, allowsDefault: route.sendsCredentials) ?? given
    }

    func authorization(for route: RequestRoute) -> String? {
        route.sendsCredentials ? token.map { "Bearer \($0)" } : nil
    }

    /// The secret values. dlm hides these values when it shows or stores text that a server sent.
    var values: [String] { (netrc?.passwords ?? []) + (token.map { [$0] } ?? []) + cookies.values }
}
