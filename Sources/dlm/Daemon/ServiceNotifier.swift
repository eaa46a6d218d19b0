import Foundation
import Glibc

/// Tells the service manager how the daemon is: the protocol of sd_notify(3), spoken directly.
struct ServiceNotifier: Sendable {
    static let variable = "NOTIFY_SOCKET"

    private let address: String

    /// - Parameter environment: nil comes back where no service manager listens.
    init?(environment: [String: String]) {
        guard let address = environment[Self.variable], address.count > 1,
            address.hasPrefix("/") || address.hasPrefix("@"),
            address.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        self.address = address
    }

    func ready(_ status: String) { send("READY=1\nSTATUS=\(status)\nMAINPID=\(getpid())") }
    func status(_ status: String) { send("STATUS=\(status)") }
    func stopping() { send("STOPPING=1\nSTATUS=Pausing downloads") }

    /// A manager that has gone is no reason to fail.
    private func send(_ message: String) { _ = Self.send(message, to: address) }

    /// Sends one datagram to a Unix socket; `@` begins a name in the abstract namespace.
    /// - Returns: false when it was not taken.
    static func send(_ message: String, to address: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { path in
            path.copyBytes(from: address.utf8)
            // The abstract namespace begins with a zero.
            if address.hasPrefix("@") { path[0] = 0 }
        }
        // Of an abstract name every byte counts, so none may follow it.
        let length = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + address.utf8.count } ?? 0
        return withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                sendto(
                    descriptor, message, message.utf8.count, Int32(MSG_DONTWAIT), pointer, socklen_t(length))
            }
        } == message.utf8.count
    }
}
