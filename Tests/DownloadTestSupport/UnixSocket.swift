import Foundation

/// A Unix socket at a path, or at a name after `@` in the abstract namespace.
package final class UnixSocket: Sendable {
    package enum Kind {
        case datagram, stream
    }

    package let descriptor: Int32

    package init(_ kind: Kind, at address: String) throws {
        let type = kind == .datagram ? SOCK_DGRAM : SOCK_STREAM
        descriptor = socket(AF_UNIX, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { path in
            path.copyBytes(from: address.utf8)
            if address.hasPrefix("@") { path[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.utf8.count)
        let descriptor = descriptor
        let result = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else { throw SystemError("bind \(address)") }
    }

    deinit { close(descriptor) }

    package func startListening() throws {
        guard listen(descriptor, 8) == 0 else { throw SystemError("listen") }
    }

    /// Returns the next datagram, or nil if none came within the limit.
    package func receive(atMost limit: Duration = .seconds(45)) async throws -> String? {
        guard await isReady(atMost: limit) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw SystemError("recv") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Waits until a client has connected and waits to be accepted. Returns false if the limit passes before.
    package func waitForConnection(atMost limit: Duration = .seconds(45)) async -> Bool {
        await isReady(atMost: limit)
    }

    private func isReady(atMost limit: Duration) async -> Bool {
        let milliseconds = Int32(limit / .milliseconds(1))
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                continuation.resume(returning: poll(&watched, 1, milliseconds) > 0)
            }
        }
    }
}
