import DownloadCore

/// The parts of a session that its attempts work with. It is a class, because each attempt has it, and a copy would
/// change the reference counts of all parts.
package final class AttemptContext: Sendable {
    package let session: String
    package let transport: any Transport
    package let store: any DownloadStore
    package let disk: DiskWriter
    package let time: any TimeSource
    package let committer: Committer
    package let requests: SessionRequests
    /// The profiles of hosts that downloads of the session have learned.
    package let hosts = HostMemory()
    /// Whether attempts watch for other programs that write to a partial file. False in a process that starts other
    /// processes without ``ProcessStart``. A new process has the partial files open until it runs its program, which
    /// looks like a write by another program.
    package let watchesWriters: Bool
    /// The hosts that want only https (HSTS); nil if they are not remembered.
    package let strictHosts: HSTSStore?
    /// The stream to which the download is written instead of a file; nil for a file.
    package let stream: StreamOutput?
    /// The adapter that changes requests before each attempt; nil for none.
    package let adapter: (any RequestAdapter)?
    /// The runner of the commands that print a new URL for an expired one; nil if no program may be run.
    package let links: (any HookRunner)?
    /// Reports that the transfers of an attempt are over, so that the attempt needs no slot any more.
    package let transfersEnded: @Sendable (DownloadID, AttemptControl) -> Void
    package let announce: @Sendable (DownloadEvent) -> Void

    package init(
        session: String, transport: any Transport, store: any DownloadStore, disk: DiskWriter, time: any TimeSource,
        committer: Committer, requests: SessionRequests, watchesWriters: Bool = true, strictHosts: HSTSStore? = nil,
        stream: StreamOutput? = nil, adapter: (any RequestAdapter)? = nil, links: (any HookRunner)? = nil,
        transfersEnded: @escaping @Sendable (DownloadID, AttemptControl) -> Void,
        announce: @escaping @Sendable (DownloadEvent) -> Void
    ) {
        (self.session, self.transport, self.store, self.disk, self.time) = (session, transport, store, disk, time)
        (self.committer, self.requests, self.watchesWriters) = (committer, requests, watchesWriters)
        (self.strictHosts, self.stream, self.adapter, self.links) = (strictHosts, stream, adapter, links)
        (self.transfersEnded, self.announce) = (transfersEnded, announce)
    }
}
