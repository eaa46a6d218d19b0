/// How a store is, found out without changing it.
public struct StoreHealth: Sendable, Equatable {
    public var path: String
    /// Of the database with its log; nil when there is no store.
    public var bytes: Int64?
    /// Nil when it could not be read.
    public var schema: Int?
    /// What this program brings a store to.
    public var newestSchema: Int
    /// Recorded downloads.
    public var downloads: Int?
    /// False: it is too large for a quick look.
    public var isChecked = false
    /// Why it cannot be used.
    public var error: DownloadError?

    public init(path: String, newestSchema: Int) {
        self.path = path
        self.newestSchema = newestSchema
    }
}

/// What is left or held of a session in `sessions/`.
public struct SessionTrace: Sendable, Equatable {
    public var identifier: String
    /// Its process holds the lock.
    public var isAlive: Bool
    /// As it says itself.
    public var pid: Int32?
    /// There is a socket, whoever listens.
    public var hasSocket: Bool

    public init(identifier: String, isAlive: Bool, pid: Int32?, hasSocket: Bool) {
        self.identifier = identifier
        self.isAlive = isAlive
        self.pid = pid
        self.hasSocket = hasSocket
    }
}
