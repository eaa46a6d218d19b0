import DownloadKit
import Foundation
import Glibc

/// The listening socket that a service manager created and passed to this process, as sd_listen_fds(3) describes. The
/// protocol is implemented here, without libsystemd.
enum SocketActivation {
    static let variables = ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"]

    /// Returns the socket, closed on exec, or nil if none was passed to this process. Clients look for it at `path`.
    static func listener(
        environment: [String: String], path: String, first: Int32 = 3
    ) throws(DownloadError) -> Int32? {
        guard environment["LISTEN_PID"].flatMap({ pid_t($0) }) == getpid(), let text = environment["LISTEN_FDS"] else {
            return nil
        }
        guard let count = Int32(text), (1...1000).contains(count) else { throw refused("LISTEN_FDS=\(text)") }
        for descriptor in first..<first + count { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        guard count == 1 else { throw refused("\(count) sockets were passed; pass one") }
        guard option(SO_DOMAIN, of: first) == AF_UNIX, option(SO_TYPE, of: first) == Int32(SOCK_STREAM.rawValue),
            option(SO_ACCEPTCONN, of: first) == 1
        else { throw refused("what was passed is not a listening Unix stream socket") }
        // The path that the manager was given may lead through a link, so files are compared and not paths.
        guard let bound = boundPath(first), FileStatus.areSame(bound, path) else {
            throw refused("the socket that was passed is not \(path), where dlm expects it; change ListenStream=")
        }
        return first
    }

    private static func refused(_ why: String) -> DownloadError {
        .sessionUnavailable(.startFailed(message: "socket activation: \(why)"))
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    private static func boundPath(_ descriptor: Int32) -> String? {
        var name = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        return withUnsafeBytes(of: name.sun_path) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
