import DownloadKit

/// The failures caused by a folder that is missing or cannot be used, which are reported once for all its downloads.
struct FolderFailures {
    private struct Group {
        let folder: String
        /// The reason, if the error names the folder; nil if the error names a file, and the folder is missing.
        let why: String?
        let first: String
        var ids: [DownloadID]
    }

    private var groups: [Group] = []

    /// Collects a failure if a folder caused it; otherwise returns false. The line is printed if no other download
    /// failed in the folder for the same reason. `folderExists` is called only for errors that a missing folder may
    /// explain.
    mutating func add(
        _ record: DownloadRecord, _ error: DownloadError, line: String, folderExists: (String) -> Bool
    ) -> Bool {
        guard case .fileFailed(let failure, let path) = error else { return false }
        let folder = record.request.destination.folder
        var why: String?
        switch (failure, path == folder) {
        // The folder itself cannot be used.
        case (.folderMissing, true), (.folderMoved, true), (.permissionDenied, true), (.system, true), (.exists, true),
            (.notReplaceable, true):
            why = failure.description
        // A missing folder may explain the error of a file.
        case (.folderMissing, false), (.folderMoved, false), (.partialMissing, _), (.deleted, _):
            if folderExists(folder) { return false }
        case (.permissionDenied, false), (.system, false), (.exists, false), (.notReplaceable, false),
            (.partialExists, _), (.locked, _), (.replaced, _), (.altered, _), (.truncated, _), (.readOnly, _),
            (.noSpace, _), (.nameUnusable, _), (.nameOutside, _), (.notRegular, _):
            return false
        }
        if let index = groups.firstIndex(where: { $0.folder == folder && $0.why == why }) {
            groups[index].ids.append(record.id)
        } else {
            groups.append(Group(folder: folder, why: why, first: line, ids: [record.id]))
        }
        return true
    }

    /// Removes the collected failures, and returns one line for each folder and reason.
    mutating func take() -> [String] {
        defer { groups = [] }
        return groups.map { group in
            guard group.ids.count > 1 else { return group.first }
            let why = group.why ?? "the folder or its file system is gone"
            let command = "dlm resume \(SummaryText.ranges(group.ids.sorted()) ?? "--all")"
            return "\(group.folder): \(why); \(group.ids.count) downloads failed; run: \(command)"
        }
    }
}
