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

    /// Returns the error for a failed system call on a file that the user has named, such as a file with secrets.
    package static func givenFile(_ code: Int32, _ operation: String, _ path: String) -> DownloadError {
        let isForbidden = code == EACCES || code == EPERM
        return .fileFailed(isForbidden ? .permissionDenied : .system(operation: operation, errno: code), path: path)
    }
}
