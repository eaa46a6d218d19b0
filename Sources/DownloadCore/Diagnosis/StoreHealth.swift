/// The condition of a store, examined without changing the store.
package struct StoreHealth: Sendable, Equatable {
    package var path: String
    /// The size of the database with its log, in bytes; nil if there is no store.
    package var bytes: Int64?
    /// The version of the schema; nil if it could not be read.
    package var schema: Int?
    package var downloads: Int?
    /// Whether the database was checked for errors. It is not checked if it is too large for a quick check.
    package var isChecked = false
    /// The knowledge about the signatures in folders, by the URLs of the folders.
    package var signers: [String: SignerKnowledge] = [:]
    /// The reports of earlier rescues of the store, the oldest first.
    package var rescues: [String] = []
    /// The reason why the store cannot be used; nil if it can.
    package var error: DownloadError?

    package init(path: String) { self.path = path }
}

/// The files of a session in `sessions/`.
package struct SessionTrace: Sendable, Equatable {
    package var identifier: String
    /// Whether the process of the session holds the lock.
    package var isAlive: Bool
    /// The process id in the file of the session.
    package var pid: Int32?
    /// Whether there is a socket, even if no process listens on it.
    package var hasSocket: Bool

    package init(identifier: String, isAlive: Bool, pid: Int32?, hasSocket: Bool) {
        self.identifier = identifier
        self.isAlive = isAlive
        self.pid = pid
        self.hasSocket = hasSocket
    }
}
