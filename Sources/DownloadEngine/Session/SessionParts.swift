import DownloadCore
import DownloadSystem

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

package struct SessionParts: Sendable {
    let store: any DownloadStore
    let identifier: String
    let version: String
    let resources: SessionResources
    /// Returns whether the process of another session lives.
    package var isAlive: @Sendable (String) -> Bool = { _ in false }
    /// Reports a problem that no caller is waiting to hear about, as text for the user.
    package var notice: @Sendable (String) -> Void = { _ in }
    /// The runner of hooks, and of the commands that print a new URL for an expired one. Nil if no program may be run,
    /// because other sessions run the hooks.
    package var hooks: (any HookRunner)?
    /// Whether unfinished files are kept. False in a session without records, which deletes them, because nothing could
    /// continue them.
    package var keepsUnfinished = true
    /// Whether attempts watch for other programs that write to a partial file. False in a process that starts other
    /// processes without ``ProcessStart``. A new process has the partial files open until it runs its program, which
    /// looks like a write by another program.
    package var watchesWriters = true
    /// The stream to which the only download of the session is written instead of a file; nil for files.
    package var stream: StreamOutput?
    package var network: any LocalNetwork = KernelNetwork()
    package var time: any TimeSource = SystemTime()
    /// The hosts that want only https (HSTS); nil if they are not remembered.
    package var strictHosts: HSTSStore?
    package var adapter: (any RequestAdapter)?
    /// The retrier that decides on failed attempts before the retry policy of the request; nil for none.
    package var retrier: (any RequestRetrier)?

    package init(store: any DownloadStore, identifier: String, version: String, resources: SessionResources) {
        (self.store, self.identifier, self.version, self.resources) = (store, identifier, version, resources)
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
