import DownloadKit

/// The rule that decides whether a URL is left out because of its entry in the manifest.
struct ManifestRule: Equatable, Sendable {
    /// Whether URLs that failed for good are downloaded again (`--retry-failed`).
    var retriesFailed = false

    /// - Parameter size: The size of the file at the path of the entry; nil if there is no regular file.
    func leavesOut(_ entry: ManifestEntry, _ request: DownloadRequest, size: Int64?) -> Bool {
        switch entry.status {
        case .failed: return leavesOutFailed(entry)
        case .done:
            // With `newer`, the server must be asked whether its file is newer.
            guard request.destination.ifExists != .newer, let path = entry.path else { return false }
            return size == entry.bytes && isPlace(path, of: request.destination)
        }
    }

    func leavesOutFailed(_ entry: ManifestEntry) -> Bool {
        entry.status == .failed && !retriesFailed && entry.error?.retryable == false
    }

    /// Returns whether a path is a place where this command could save the file.
    private func isPlace(_ path: String, of destination: Destination) -> Bool {
        let name = FileNaming.lastComponent(path)
        let isNamed = destination.fileName.map { $0 == name || destination.ifExists == .rename } ?? true
        return isNamed && FileNaming.isPath(path, of: name, in: destination.folder)
    }
}
