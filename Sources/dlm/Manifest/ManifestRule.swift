import DownloadKit

/// Whether a URL has to be downloaded, by what a manifest and the disk say. Pure.
struct ManifestRule: Equatable, Sendable {
    /// `--retry-failed`: also downloads what failed for good.
    var retriesFailed = false

    /// - Parameter size: of the file at the path of the entry; nil if no regular file is there.
    func leavesOut(_ entry: ManifestEntry, _ request: DownloadRequest, size: Int64?) -> Bool {
        switch entry.status {
        case .failed: return leavesOutFailed(entry)
        case .done:
            // To know whether the server's file is newer, it has to be asked.
            guard request.destination.ifExists != .newer, let path = entry.path else { return false }
            return size == entry.bytes && isPlace(path, of: request.destination)
        }
    }

    /// Whether the entry says that the URL failed, and fails whenever it is tried.
    func leavesOutFailed(_ entry: ManifestEntry) -> Bool {
        entry.status == .failed && !retriesFailed && entry.error?.retryable == false
    }

    /// The file is where this command would put it.
    private func isPlace(_ path: String, of destination: Destination) -> Bool {
        guard let slash = path.lastIndex(of: "/") else { return false }
        let (folder, name) = (path[..<slash], path[path.index(after: slash)...])
        let isInFolder = folder == destination.folder || destination.folder == "/" && folder.isEmpty
        return isInFolder && (destination.fileName.map { $0 == name || destination.ifExists == .rename } ?? true)
    }
}
