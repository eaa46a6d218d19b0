import DownloadCore

/// The configuration of the background session's HTTP server: its address, and what it permits.
package struct RPCConfiguration: Sendable, Equatable {
    /// The numeric address on which the server listens. Default: loopback.
    package var host = "127.0.0.1"
    /// The port on which the server listens. 0 means any free port.
    package var port = 6800
    /// The folders in which network clients may save downloads, with all their subfolders. The first folder is used if
    /// a client names no folder.
    package var folders: [String]
    /// The origins of other web pages whose requests are answered, such as `https://example.org`.
    package var origins: [String] = []
    /// Further names of the server, besides `localhost` and numeric addresses.
    package var hosts: [String] = []
    /// Whether downloads from loopback, private and link-local addresses are permitted.
    package var permitsPrivateHosts = true
    /// The state folder, which has the files of the secret and the GIDs.
    package var stateFolder: String
    /// The folders of dlm itself. Network clients may not save anything in these folders, even if they are below a
    /// permitted folder.
    package var protectedFolders: [String] = []

    package init(folders: [String], stateFolder: String) {
        self.folders = folders
        self.stateFolder = stateFolder
    }

    /// Reads `PORT`, `ADDRESS`, `ADDRESS:PORT` or `[ADDRESS]:PORT`. Returns nil for any other text. Names are refused,
    /// because the address of a name can change.
    package static func listen(_ text: String) -> (host: String, port: Int)? {
        if let port = port(text) { return ("127.0.0.1", port) }
        if HostName.isAddress(text) { return (text, 6800) }
        guard let host = HostName(authority: text), host.isAddress else { return nil }
        guard let given = host.port else { return (host.name, 6800) }
        return port(given).map { (host.name, $0) }
    }

    private static func port(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text),
            (0...65535).contains(number)
        else { return nil }
        return number
    }
}
