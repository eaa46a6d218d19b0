/// What a session is made of; transport, lock and socket come into being with the first download.
package struct SessionParts: Sendable {
    let store: any DownloadStore
    let identifier: String
    /// Of the program.
    let version: String
    /// Takes the session's lock and starts the transport.
    let start: @Sendable () throws -> any Transport
    /// Makes the session answer other processes, and returns what ends that.
    let serve: @Sendable (any DownloadService) async throws -> @Sendable () async -> Void
    /// Gives the lock back.
    let end: @Sendable () -> Void
    /// Whether the process of another session lives.
    let isAlive: @Sendable (String) -> Bool
    /// What went wrong and is nobody's answer: for people.
    let notice: @Sendable (String) -> Void
    /// Nil: hooks are left to others.
    let hooks: (any HookRunner)?
    /// False: what is not complete when its work ends is deleted, for nothing is recorded that could go on with it.
    let keepsUnfinished: Bool
    /// See ``RunnerContext/watchesWriters``.
    let watchesWriters: Bool
    /// Where the one download goes that is not to become a file.
    let stream: StreamOutput?
    let network: any LocalNetwork
    let time: any TimeSource
    /// See ``RunnerContext/strictHosts``.
    let strictHosts: HSTSStore?
    /// Changes requests before each attempt; nil for none.
    let adapter: (any RequestAdapter)?
    /// Decides on failed attempts before the policy of the request does; nil for none.
    let retrier: (any RequestRetrier)?

    package init(
        store: any DownloadStore, identifier: String, version: String,
        start: @escaping @Sendable () throws -> any Transport, end: @escaping @Sendable () -> Void,
        serve: @escaping @Sendable (any DownloadService) async throws -> @Sendable () async -> Void = { _ in {} },
        isAlive: @escaping @Sendable (String) -> Bool = { _ in false },
        notice: @escaping @Sendable (String) -> Void = { _ in }, hooks: (any HookRunner)? = nil,
        keepsUnfinished: Bool = true, watchesWriters: Bool = true, stream: StreamOutput? = nil,
        network: any LocalNetwork = KernelNetwork(), strictHosts: HSTSStore? = nil,
        adapter: (any RequestAdapter)? = nil, retrier: (any RequestRetrier)? = nil,
        time: any TimeSource = SystemTime()
    ) {
        self.adapter = adapter
        self.retrier = retrier
        self.time = time
        self.network = network
        self.hooks = hooks
        self.stream = stream
        self.strictHosts = strictHosts
        self.watchesWriters = watchesWriters
        self.store = store
        self.identifier = identifier
        self.version = version
        self.start = start
        self.serve = serve
        self.end = end
        self.isAlive = isAlive
        self.notice = notice
        self.keepsUnfinished = keepsUnfinished
    }
}
