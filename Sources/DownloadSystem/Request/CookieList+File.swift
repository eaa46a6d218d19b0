import DownloadCore
import Foundation
import Glibc

extension CookieList {
    /// Reads the cookie file. If the cookie file is also the jar, it need not exist yet.
    /// - Throws: An error if a file cannot be read or is not a cookie file, or if the jar's folder is not writable.
    init(_ files: SecretFiles) throws(DownloadError) {
        if let jar = files.cookieJar {
            // The jar is replaced at the end of each attempt. So an existing file must be a cookie file, which may be
            // empty, and its folder must be writable.
            _ = try Self.existing(jar)
            let folder = (jar as NSString).deletingLastPathComponent
            if access(folder, W_OK | X_OK) != 0 { throw DownloadError.givenFile(errno, "write", folder) }
        }
        var lines: [String] = []
        if let path = files.cookies {
            lines = path == files.cookieJar ? try Self.existing(path) : try Self.read(path)
        }
        self.init(lines)
    }

    /// Adds new and changed cookies to the file, and removes deleted and expired ones. Other downloads may write the
    /// file at the same time.
    package func save(to path: String, now: Date) throws(DownloadError) {
        let folder = (path as NSString).deletingLastPathComponent
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw DownloadError.givenFile(errno, "open", folder) }
        defer { close(lock) }
        flock(lock, LOCK_EX)
        let text = jar(from: try Self.existing(path), now: now)
        let draft = "\(path).\(getpid()).part"
        guard FileBytes.make(draft, with: text, then: { rename(draft, path) == 0 }) else {
            throw DownloadError.givenFile(errno, "write", path)
        }
    }

    /// Reads a cookie file. Returns no lines if the file does not exist.
    private static func existing(_ path: String) throws(DownloadError) -> [String] {
        access(path, F_OK) == 0 ? try read(path) : []
    }

    private static func read(_ path: String) throws(DownloadError) -> [String] {
        try lines(of: try SecretFile.read(path), path)
    }
}
