import DownloadKit
import Foundation
import Glibc

/// The state of one of dlm's own folders.
struct FolderCheck: Equatable, Sendable {
    let path: String
    /// The permissions; nil if the folder does not exist or cannot be examined.
    var mode: mode_t?
    var owner: uid_t = 0
    var isFolder = true
    /// The folder for a ``FileSystemTrial``: this folder, or if it does not exist, the nearest existing folder above.
    private(set) var existing: String
    /// The errno of stat(2); 0 if the call worked or found that nothing exists.
    var failure: Int32 = 0

    init(_ path: String) {
        self.path = path
        existing = path
        var information = stat()
        if stat(path, &information) == 0 {
            mode = information.st_mode & 0o7777
            owner = information.st_uid
            isFolder = information.st_mode & S_IFMT == S_IFDIR
        } else if errno == ENOENT {
            repeat {
                existing = (existing as NSString).deletingLastPathComponent
            } while existing != "/" && stat(existing, &information) != 0 && errno == ENOENT
        } else {
            failure = errno
        }
    }
}

/// The findings about the folders of state, configuration and sessions.
enum FolderFindings {
    static func state(_ check: FolderCheck, user: uid_t) -> Finding {
        let advice = "check who owns it, or set XDG_STATE_HOME to a folder that you can write to"
        if check.failure != 0 {
            let why = String(cString: strerror(check.failure))
            return .problem(.folders, "state", 12, "\(check.path): \(why)", advice: advice)
        }
        guard let mode = check.mode else {
            return .ok(.folders, "state", "\(check.path): does not exist yet; created when it is needed")
        }
        guard check.isFolder else {
            return .problem(.folders, "state", 12, "\(check.path): is not a folder", advice: "move it away")
        }
        let text = "\(check.path): mode \(octal(mode))"
        if check.owner != user {
            return .problem(.folders, "state", 12, "\(text), of another user (uid \(check.owner))", advice: advice)
        }
        if mode & 0o077 != 0 {
            let advice = "chmod 700 \(ShellWord.quoted(check.path))"
            return .warning(.folders, "state", "\(text): other users may enter it", advice: advice)
        }
        return .ok(.folders, "state", text)
    }

    /// - Parameter canReachLongPaths: Whether /proc is mounted, through which dlm reaches a socket with a long path.
    static func sessions(_ check: FolderCheck, socket: String, canReachLongPaths: Bool) -> [Finding] {
        var findings: [Finding] = []
        if let mode = check.mode, !check.isFolder {
            let text = "\(check.path): is not a folder (mode \(octal(mode)))"
            let command = "mv \(ShellWord.quoted(check.path)) \(ShellWord.quoted(check.path + ".old"))"
            findings.append(.problem(.folders, "sessions", 12, text, advice: "move it away: \(command)"))
        }
        let length = socket.utf8.count
        let text = "\(length) bytes; a socket address holds at most \(longestPath)"
        if length <= longestPath {
            findings.append(.ok(.folders, "socket path", text))
        } else if canReachLongPaths {
            findings.append(.ok(.folders, "socket path", text + ", so dlm reaches the socket through /proc/self/fd"))
        } else {
            findings.append(
                .problem(
                    .folders, "socket path", 12, text + ", and /proc is not mounted",
                    advice: "set XDG_STATE_HOME to a shorter path"))
        }
        return findings
    }

    /// The longest path that `sockaddr_un` can have, in bytes, without its closing zero (unix(7)).
    static let longestPath = 107

    private static func octal(_ mode: mode_t) -> String { "0" + String(mode, radix: 8) }
}
