import Foundation
import HTTPTypes

/// What a runner works with: its session's parts.
package struct RunnerContext: Sendable {
    package let session: String
    package let transport: any Transport
    package let store: any DownloadStore
    package let disk: DiskWriter
    package let time: any TimeSource
    package let committer: Committer
    /// Sent with every request unless the user set it: identity encoding, the user agent.
    package let userAgent: String
    /// The limit of the whole session.
    package var rateLimit = RateLimit()
    /// What downloads of the session found out about hosts.
    package var hosts = HostMemory()
    /// Notices when another program writes to a partial file. Not in a process that starts others meanwhile: what it
    /// has closed stays open in them until they run their programs, and looks like theirs.
    package var watchesWriters = true
    /// Hosts that want https alone; nil where nothing is kept.
    package var strictHosts: HSTSStore?
    /// What servers set; nil where it is kept for one attempt only.
    package var cookies: SessionCookies?
    /// What is downloaded goes there, and not to a file.
    package var stream: StreamOutput?
    /// Changes requests before each attempt; nil for none.
    package var adapter: (any RequestAdapter)?
    /// Runs the command of a download for a new link; nil where nothing can be run.
    package var links: (any HookRunner)?
    /// See ``TransferRequest/isOneOfMany``.
    package var isCrowded = false
    /// The transfers of this attempt are over; what follows needs no slot.
    package let transfersEnded: @Sendable (DownloadID, RunnerControl) -> Void
    package let announce: @Sendable (DownloadEvent) -> Void
}

extension RunnerContext {
    /// The cookies of a download.
    func memory(of record: DownloadRecord) -> CookieMemory? {
        cookies?.memory(of: record.id, record.request.secretFiles, user: record.request.credential?.user)
    }

    /// A request for a download, whatever part of it is asked for.
    func request(
        _ route: RequestRoute, of download: DownloadRequest, _ secrets: LoadedSecrets, for control: RunnerControl,
        prefersMultiplexing: Bool
    ) -> TransferRequest {
        var request = TransferRequest(route, of: download, secrets, userAgent: userAgent)
        // With a checksum of the user's nothing depends on what a server says, right or wrong.
        if download.checksum == nil, let name = HTTPField.Name.wantReprDigest, request.fields.value(name) == nil {
            request.fields.append(HTTPField(name: name, value: ServerDigest.wanted))
        }
        request.rateLimits = [rateLimit, control.rateLimit]
        request.isOneOfMany = isCrowded
        request.prefersMultiplexing = download.multiplexes(byDefault: prefersMultiplexing)
        return request
    }
}

extension DownloadRequest {
    /// Whether its transfers share connections.
    func multiplexes(byDefault: Bool) -> Bool {
        if http.authentication?.isOfConnection == true { return false }
        return switch network.httpVersion {
        case .http1: false
        case .http2: true
        case nil: byDefault && connections <= 1
        }
    }
}
