import DownloadCore

/// The lock, the transport and the socket of a session, which are created with its first download.
package struct SessionResources: Sendable {
    /// Takes the session's lock and starts the transport.
    let start: @Sendable () throws -> any Transport
    /// Makes the session answer other processes. Returns a function that ends this.
    let serve: @Sendable (any DownloadService) async throws -> @Sendable () async -> Void
    /// Releases the lock.
    let end: @Sendable () -> Void

    package init(
        start: @escaping @Sendable () throws -> any Transport, end: @escaping @Sendable () -> Void,
        serve: @escaping @Sendable (any DownloadService) async throws -> @Sendable () async -> Void = { _ in {} }
    ) {
        self.start = start
        self.serve = serve
        self.end = end
    }
}

/// The parts that a session is made of.
package struct SessionParts: Sendable {
    let store: any DownloadStore
    let identifier: String
    let version: String
    let resources: SessionResources
    /// Returns whether the process of another session lives.
    let isAlive: @Sendable (String) -> Bool
    /// Reports a problem that no caller is waiting to hear about, as text for the user.
    let notice: @Sendable (String) -> Void
    /// The runner of hooks, and of the commands that print a new URL for an expired one. Nil if no program may be run,
    /// because other sessions run the hooks.
    let hooks: (any HookRunner)?
    /// Whether unfinished files are kept. False in a session without records, which deletes them, because nothing could
    /// continue them.
    let keepsUnfinished: Bool
    /// Whether attempts watch for other programs that write to a partial file. False in a process that starts other
    /// processes without ``ProcessStart``. A new process has the partial files open until it runs its program, which
    /// looks like a write by another program.
    let watchesWriters: Bool
    /// The stream to which the only download of the session is written instead of a file; nil for files.
    let stream: StreamOutput?
    let network: any LocalNetwork
    let time: any TimeSource
    /// The hosts that want only https (HSTS); nil if they are not remembered.
    let strictHosts: HSTSStore?
    /// The adapter that changes requests before each attempt; nil for none.
    let adapter: (any RequestAdapter)?
    /// The retrier that decides on failed attempts before the retry policy of the request; nil for none.
    let retrier: (any RequestRetrier)?

    package init(
        store: any DownloadStore, identifier: String, version: String, resources: SessionResources,
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
        self.resources = resources
        self.isAlive = isAlive
        self.notice = notice
        self.keepsUnfinished = keepsUnfinished
    }
}

extension RequestRetrier {
    /// Returns the retrier's decision, or nil if the attempt did not fail.
    func decision(after outcome: AttemptTask.Outcome, of record: DownloadRecord) async -> RetryDecision? {
        switch outcome {
        case .failed(let error, _), .renewed(let error):
            await retry(DownloadSnapshot(record: record), dueTo: error)
        case .completed, .stopped: nil
        }
    }
}
