import DownloadCore
import DownloadSystem

/// The parts of a session that its attempts work with. It is a class, because each attempt has it, and a copy would
/// change the reference counts of all parts.
package final class AttemptContext: Sendable {
    private let parts: SessionParts
    let transport: any Transport
    let disk: DiskWriter
    let committer: Committer
    let requests: SessionRequests
    let hosts = HostMemory()
    let proofs: ProofDocuments
    let signatures = SignatureMemory()
    /// Reports that the transfers of an attempt are over, so that the attempt needs no slot any more.
    let transfersEnded: @Sendable (DownloadID, AttemptControl) -> Void
    let announce: @Sendable (DownloadEvent) -> Void

    init(
        parts: SessionParts, transport: any Transport, disk: DiskWriter, committer: Committer,
        requests: SessionRequests, transfersEnded: @escaping @Sendable (DownloadID, AttemptControl) -> Void,
        announce: @escaping @Sendable (DownloadEvent) -> Void
    ) {
        (self.parts, self.transport, self.disk, self.committer) = (parts, transport, disk, committer)
        (self.requests, self.transfersEnded, self.announce) = (requests, transfersEnded, announce)
        proofs = ProofDocuments(parts, transport, userAgent: requests.userAgent)
    }

    var session: String { parts.identifier }
    var store: any DownloadStore { parts.store }
    var time: any TimeSource { parts.time }
    var notice: @Sendable (String) -> Void { parts.notice }
    var watchesWriters: Bool { parts.watchesWriters }
    var strictHosts: HSTSStore? { parts.strictHosts }
    var stream: StreamOutput? { parts.stream }
    var adapter: (any RequestAdapter)? { parts.adapter }
    var hooks: (any HookRunner)? { parts.hooks }
}
