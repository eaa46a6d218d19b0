import DownloadKit

/// Failures that are those of a folder: all downloads in it fail for the same reason, which is told once. Pure.
struct FolderFailures {
    private struct Group {
        let folder: String
        /// The folder itself failed, and the error names it.
        let why: String?
        let first: String
        var ids: [DownloadID]
    }

    private var groups: [Group] = []

    /// - Parameters:
    ///   - line: the line of this failure alone.
    ///   - folderExists: looked up only for errors that a missing folder may explain.
    /// - Returns: false for a failure that is not that of a folder.
    mutating func add(
        _ record: DownloadRecord, _ error: DownloadError, line: String, folderExists: (String) -> Bool
    ) -> Bool {
        guard case .fileFailed(let failure, let path) = error else { return false }
        let folder = record.request.destination.folder
        var why: String?
        if path == folder, Self.isOfFolder(failure) {
            why = failure.description
        } else {
            guard Self.mayLackFolder(failure), !folderExists(folder) else { return false }
        }
        if let index = groups.firstIndex(where: { $0.folder == folder && $0.why == why }) {
            groups[index].ids.append(record.id)
        } else {
            groups.append(Group(folder: folder, why: why, first: line, ids: [record.id]))
        }
        return true
    }

    /// One line for each folder, or the line of the one download that failed in it.
    mutating func take() -> [String] {
        defer { groups = [] }
        return groups.map { group in
            guard group.ids.count > 1 else { return group.first }
            let why = group.why ?? "the folder, or its file system, is gone"
            let command = "dlm resume \(SummaryText.ranges(group.ids.sorted()) ?? "--all")"
            return "\(group.folder): \(why); \(group.ids.count) downloads failed; run: \(command)"
        }
    }

    /// Errors of a file that a missing folder explains.
    private static func mayLackFolder(_ failure: FileFailure) -> Bool {
        switch failure {
        case .folderMissing, .folderMoved, .partialMissing, .deleted: true
        default: false
        }
    }

    /// Errors that name the folder.
    private static func isOfFolder(_ failure: FileFailure) -> Bool {
        switch failure {
        case .folderMissing, .folderMoved, .permissionDenied, .system, .exists, .notReplaceable: true
        default: false
        }
    }
}
