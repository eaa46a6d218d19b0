import DownloadCore
import DownloadSystem

/// The rule that says which downloads begin on the short way of small files (``SmallFileLane``).
enum SmallFileRule {
    /// Returns whether the short way is possible. It is possible if nothing was fetched before, and if the request has
    /// no option that the short way does not support. All options that are not named here must have their defaults.
    static func permits(_ record: DownloadRecord) -> Bool {
        let request = record.request
        guard record.fileName == nil, record.completed == nil, record.resume == ResumeData(), request.url.isHTTP else {
            return false
        }
        let (place, http) = (request.destination, request.http)
        var plain = DownloadRequest(
            url: request.url,
            destination: Destination(
                folder: place.folder, fileName: place.fileName, ifExists: place.ifExists,
                createsFolders: place.createsFolders))
        plain.destination.takesServerName = place.takesServerName
        plain.destination.followsLinks = place.followsLinks
        plain.headers = request.headers
        if http.method == nil, http.body == nil, http.acceptsCompressed == nil { plain.boxedHTTP = request.boxedHTTP }
        plain.credential = request.credential
        plain.connections = request.connections
        plain.priority = request.priority
        plain.rateLimit = request.rateLimit
        plain.retry = request.retry
        plain.redirect = request.redirect
        plain.boxedTrust = request.boxedTrust
        plain.boxedNetwork = request.boxedNetwork
        plain.validation.types = request.validation.types
        plain.validation.maximumSize = request.validation.maximumSize
        plain.timeouts = DownloadRequest.Timeouts(connect: request.timeouts.connect, stall: request.timeouts.stall)
        plain.acceptsUnverified = request.acceptsUnverified
        plain.keepsCompleted = request.keepsCompleted
        if request.proof == .auto { plain.proof = .auto }
        guard request == plain, [.fail, .rename, .skip].contains(place.ifExists), request.missingSecrets.isEmpty,
            // The URL may have changed since the download was added.
            (try? request.requireAllowed()) != nil
        else { return false }
        // If the requested name is taken, an ordinary attempt finds the conflict before it fetches anything.
        return place.fileName.map { FileStatus.of(FileNaming.path(place.folder, $0)) == nil } ?? true
    }
}
