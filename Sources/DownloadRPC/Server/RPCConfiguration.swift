import DownloadCore

/// How the HTTP server of the background session works: where it listens, and what it permits.
package struct RPCConfiguration: Sendable, Equatable {
    /// A numeric address; loopback unless the user says otherwise.
    package var host = "127.0.0.1"
    /// 0 takes any free port.
    package var port = 6800
    /// The folders in which downloads may be put, and all below them. The first is the one for downloads that name none.
    package var folders: [String]
    /// Web pages, besides the server's own, whose requests are answered: `https://example.org`.
    package var origins: [String] = []
    /// Names, besides `localhost` and numeric addresses, by which the server may be called.
    package var hosts: [String] = []
    /// False: downloads from loopback, private and link-local addresses are refused.
    package var permitsPrivateHosts = true
    /// Holds the secret and the GIDs.
    package var stateFolder: String
    /// Folders in which nothing may be put although a permitted one is above them: dlm's own.
    package var protectedFolders: [String] = []

    package init(folders: [String], stateFolder: String) {
        self.folders = folders
        self.stateFolder = stateFolder
    }

    /// Reads `PORT`, `ADDRESS`, `ADDRESS:PORT` or `[ADDRESS]:PORT`; nil when it is none of these. Names are refused: what
    /// they resolve to could change.
    package static func listen(_ text: String) -> (host: String, port: Int)? {
        if let port = port(text) { return ("127.0.0.1", port) }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            guard HostName.isAddress(host), rest.isEmpty || rest.hasPrefix(":") else { return nil }
            guard !rest.isEmpty else { return (host, 6800) }
            return port(rest.dropFirst()).map { (host, $0) }
        }
        if HostName.isAddress(text) { return (text, 6800) }
        guard let colon = text.lastIndex(of: ":"), HostName.isAddress(String(text[..<colon])),
            let port = port(text[text.index(after: colon)...])
        else { return nil }
        return (String(text[..<colon]), port)
    }

    private static func port(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text),
            (0...65535).contains(number)
        else { return nil }
        return number
    }
}
