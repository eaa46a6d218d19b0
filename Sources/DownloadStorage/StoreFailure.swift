import DownloadCore
import Foundation
import GRDB

/// The translation of SQLite's errors into messages that tell the user what to do.
struct StoreFailure {
    let path: String
    /// Whether the store is being opened. A full disk is then reported as an unreadable store, because nothing works
    /// without the store. Later, a full disk is reported as such.
    var isOpening = false

    func error(_ error: any Error) -> DownloadError {
        switch error {
        case let error as DownloadError: error
        case let refusal as Schema.Refusal: unreadable(describe(refusal))
        case let error as DatabaseError: describe(error)
        default: unreadable(String(describing: error))
        }
    }

    private func describe(_ refusal: Schema.Refusal) -> String {
        switch refusal {
        case .newer(let version):
            "made by a newer version of this program (schema \(version), this one supports up to "
                + "\(Schema.version)); update the program"
        case .becameNewer(let version):
            "a newer version of this program has changed it (schema \(version), this session supports up to "
                + "\(Schema.version)); end this session and try again"
        case .unreleased:
            "was made by a version of this program before 0.1.0; finish its downloads with that version, or "
                + startAnew
        case .foreign: "is a database of another program; \(startAnew)"
        case .notRegular: "is not a regular file; \(startAnew)"
        case .danglingLink: "is a link to a file that does not exist; \(startAnew)"
        }
    }

    private func describe(_ error: DatabaseError) -> DownloadError {
        let detail = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_FULL where isOpening,
            .SQLITE_IOERR where isOpening && isDiskFull:
            return unreadable("no space left on the device; free some and try again")
        case .SQLITE_FULL,
            .SQLITE_IOERR where isDiskFull:
            return .fileFailed(.noSpace(needed: nil), path: path)
        // The store was closed while a call was in progress.
        case .SQLITE_MISUSE: return .sessionUnavailable(.shuttingDown)
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            return unreadable("\(detail); the next command rescues it, once no other session uses it")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return unreadable("another process keeps it locked for more than \(StoreFile.patience) s; try again")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH:
            return unreadable(
                "\(accessFailure ?? detail); check who owns it, or set XDG_STATE_HOME to a folder you can write to")
        case .SQLITE_IOERR:
            return unreadable("\(detail); check the space left (df), the file size limit (ulimit -f) and the disk")
        default: return unreadable(detail)
        }
    }

    /// The system's error for reading and writing the file, or for creating it in its folder; nil if there is none.
    private var accessFailure: String? {
        let name = access(path, F_OK) == 0 ? path : (path as NSString).deletingLastPathComponent
        guard access(name, R_OK | W_OK) != 0 else { return nil }
        return String(cString: strerror(errno))
    }

    /// Whether the disk is full. SQLite reports an I/O error if its log files cannot grow.
    private var isDiskFull: Bool {
        var information = statvfs()
        return statvfs((path as NSString).deletingLastPathComponent, &information) == 0 && information.f_bavail == 0
    }

    private var startAnew: String {
        let file = ShellWord.quoted(path)
        return "move it away to start with an empty store: mv \(file) \(ShellWord.quoted(path + ".damaged"))"
    }

    private func unreadable(_ message: String) -> DownloadError {
        .sessionUnavailable(.storeUnreadable(path: path, message: message))
    }
}

extension DatabaseError {
    /// Returns the error for a failed system call.
    static func system(_ code: ResultCode) -> DatabaseError {
        DatabaseError(resultCode: code, message: String(cString: strerror(errno)))
    }
}
