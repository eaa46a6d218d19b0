import Foundation
import HTTPTypes

/// The parts of a session that its attempts work with.
package struct RunnerContext: Sendable {
    package let session: String
    package let transport: any Transport
    package let store: any DownloadStore
    package let disk: DiskWriter
    package let time: any TimeSource
    package let committer: Committer
    /// The user agent that is sent with every request, unless the user set another.
    package let userAgent: String
    /// The limit of the whole session.
    package var rateLimit = RateLimit()
    /// The profiles of hosts that downloads of the session have learned.
    package var hosts = HostMemory()
    /// Whether attempts watch for other programs that write to a partial file. False in a process that starts other
    /// processes without ``ProcessStart``. A new process has the partial files open until it runs its program, which
    /// looks like a write by another program.
    package var watchesWriters = true
    /// The hosts that want only https (HSTS); nil if they are not remembered.
    package var strictHosts: HSTSStore?
    /// The cookies that servers set; nil if cookies are kept for one attempt only.
    package var cookies: SessionCookies?
    /// The stream to which the download is written instead of a file; nil for a file.
    package var stream: StreamOutput?
    /// The adapter that changes requests before each attempt; nil for none.
    package var adapter: (any RequestAdapter)?
    /// The runner of the commands that print a new URL for an expired one; nil if no program may be run.
    package var links: (any HookRunner)?
    /// Whether the transfers must use little memory; see ``TransferRequest/isOneOfMany``.
    package var isCrowded = false
    /// Reports that the transfers of an attempt are over, so that the attempt needs no slot any more.
    package let transfersEnded: @Sendable (DownloadID, RunnerControl) -> Void
    package let announce: @Sendable (DownloadEvent) -> Void
}

extension RunnerContext {
    /// Returns the cookies of a download.
    func memory(of record: DownloadRecord) -> CookieMemory? {
        cookies?.memory(of: record.id, record.request.secretFiles, user: record.request.credential?.user)
    }

    /// Returns a request for a download, without a range.
    func request(
        _ route: RequestRoute, of download: DownloadRequest, _ secrets: LoadedSecrets, for control: RunnerControl,
        prefersMultiplexing: Bool
    ) -> TransferRequest {
        var request = TransferRequest(route, of: download, secrets, userAgent: userAgent)
        // If the user gave a checksum, the server's digest is not used, so it is not requested.
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
    /// Returns whether the transfers of the request share connections.
    func multiplexes(byDefault: Bool) -> Bool {
        if http.authentication?.isOfConnection == true { return false }
        return switch network.httpVersion {
        case .http1: false
        case .http2: true
        case nil: byDefault && connections <= 1
        }
    }
}
