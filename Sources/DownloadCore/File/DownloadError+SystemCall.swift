import Glibc

extension DownloadError {
    /// Returns the error for a failed system call on a file.
    package static func file(_ code: Int32, _ operation: String, path: String) -> DownloadError {
        let failure: FileFailure =
            switch code {
            case ENOSPC, EDQUOT: .noSpace(needed: nil)
            case EACCES, EPERM: .permissionDenied
            case EROFS: .readOnly
            case ENOENT: .folderMissing
            case EEXIST: .exists
            case ENAMETOOLONG: .nameUnusable
            case ELOOP: .replaced
            default: .system(operation: operation, errno: code)
            }
        return .fileFailed(failure, path: path)
    }
}
