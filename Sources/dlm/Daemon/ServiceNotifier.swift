import Foundation
import Glibc

/// The reports about the daemon to the service manager, by the protocol of sd_notify(3), but without libsystemd.
struct ServiceNotifier: Sendable {
    static let variable = "NOTIFY_SOCKET"

    private let address: String

    /// Returns nil if the environment names no socket of a service manager.
    init?(environment: [String: String]) {
        guard let address = environment[Self.variable], address.count > 1,
            address.hasPrefix("/") || address.hasPrefix("@"),
            address.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        self.address = address
    }

    func ready(_ status: String) { send("READY=1\nSTATUS=\(status)\nMAINPID=\(getpid())") }
    func status(_ status: String) { send("STATUS=\(status)") }
    func stopping(_ status: String) { send("STOPPING=1\nSTATUS=\(status)") }

    /// Sends a message. A failure is ignored, because the service manager may have ended.
    private func send(_ message: String) { _ = Self.send(message, to: address) }

    /// Sends one datagram to a Unix socket; `@` begins an abstract name. Returns whether it was sent.
    static func send(_ message: String, to address: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { path in
            path.copyBytes(from: address.utf8)
            // A name in the abstract namespace begins with a zero byte.
            if address.hasPrefix("@") { path[0] = 0 }
        }
        // Every byte of an abstract name is significant, so the length must be exact.
        let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + address.utf8.count } ?? 0
        return withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                sendto(
                    descriptor, message, message.utf8.count, Int32(MSG_DONTWAIT), pointer, socklen_t(length))
            }
        } == message.utf8.count
    }
}
