import Foundation
import Glibc

/// The test whether a process accepts connections on a Unix socket.
enum SocketProbe {
    static func isListening(_ path: String) -> Bool {
        // The path leads through the folder's descriptor, because the path of a socket is limited to 107 bytes.
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        let short = "/proc/self/fd/\(folder)/\((path as NSString).lastPathComponent)"
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        guard short.utf8.count < MemoryLayout.size(ofValue: name.sun_path) else { return false }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: short.utf8) }
        let result = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // EAGAIN means that a process listens and its queue is full.
        return result == 0 || errno == EAGAIN
    }
}
