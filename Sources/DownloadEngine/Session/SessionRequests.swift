import DownloadCore
import HTTPTypes

/// The settings of a session that it adds to the requests of its downloads.
package struct SessionRequests: Sendable {
    /// The user agent that is sent with every request, unless the user set another.
    let userAgent: String
    var rateLimit = RateLimit()
    /// The cookies that servers set; nil if cookies are kept for one attempt only.
    var cookies: SessionCookies?
    /// Whether the transfers must use little memory; see ``TransferRequest/isOneOfMany``.
    var isCrowded = false

    func memory(of id: DownloadID, _ download: DownloadRequest) -> CookieMemory? {
        cookies?.memory(of: id, download.secretFiles, user: download.credential?.user)
    }

    /// Returns the cookies that the download shares with others, or nil if it has its own.
    func sharedMemory(_ download: DownloadRequest) -> CookieMemory? {
        cookies?.areShared == true ? memory(of: 0, download) : nil
    }

    func limits(for control: AttemptControl) -> [RateLimit] { [rateLimit, control.rateLimit] }

    /// Returns a request for a download, without a range.
    func request(
        _ route: RequestRoute, of download: DownloadRequest, _ secrets: LoadedSecrets, for control: AttemptControl,
        prefersMultiplexing: Bool
    ) -> TransferRequest {
        var request = request(route, of: download, secrets)
        request.rateLimits = limits(for: control)
        request.prefersMultiplexing = download.multiplexes(byDefault: prefersMultiplexing)
        return request
    }

    /// Returns a request with the properties that all requests of a download have in common.
    func request(_ route: RequestRoute, of download: DownloadRequest, _ secrets: LoadedSecrets) -> TransferRequest {
        var request = TransferRequest(route, of: download, secrets, userAgent: userAgent)
        // A digest that is not used is not requested.
        if download.asksForDigest, let name = HTTPField.Name.wantReprDigest, request.options.fields.value(name) == nil {
            request.options.fields.append(HTTPField(name: name, value: ServerDigest.wanted))
        }
        request.options.isOneOfMany = isCrowded
        return request
    }
}
