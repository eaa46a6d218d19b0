/// How a store is, found out without changing it.
package struct StoreHealth: Sendable, Equatable {
    package var path: String
    /// Of the database with its log; nil when there is no store.
    package var bytes: Int64?
    /// Nil when it could not be read.
    package var schema: Int?
    /// What this program brings a store to.
    package var newestSchema: Int
    /// Recorded downloads.
    package var downloads: Int?
    /// False: it is too large for a quick look.
    package var isChecked = false
    /// Why it cannot be used.
    package var error: DownloadError?

    package init(path: String, newestSchema: Int) {
        self.path = path
        self.newestSchema = newestSchema
    }
}

/// What is left or held of a session in `sessions/`.
package struct SessionTrace: Sendable, Equatable {
    package var identifier: String
    /// Its process holds the lock.
    package var isAlive: Bool
    /// As it says itself.
    package var pid: Int32?
    /// There is a socket, whoever listens.
    package var hasSocket: Bool

    package init(identifier: String, isAlive: Bool, pid: Int32?, hasSocket: Bool) {
        self.identifier = identifier
        self.isAlive = isAlive
        self.pid = pid
        self.hasSocket = hasSocket
    }
}
