import Foundation
import Synchronization

/// A client of a socket that sends arbitrary bytes, and reads only when told to.
package final class RawClient: Sendable {
    package struct Received: Sendable {
        package var bytes: [UInt8] = []
        package var isClosed = false

        package var text: String { String(decoding: bytes, as: UTF8.self) }
        /// The status code. 0 if no status line was received yet.
        package var status: Int { Int(text.split(separator: " ", maxSplits: 2).dropFirst().first ?? "") ?? 0 }
        package var body: String { text.range(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? "" }
        package var json: [String: Any] {
            get throws {
                var body = body
                // In a chunked body, the data is between the sizes.
                if text.lowercased().contains("transfer-encoding: chunked\r\n") {
                    body = body.split(separator: "\r\n").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
                        .joined()
                }
                return try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
            }
        }
    }

    package let received = Observed(Received())
    private let descriptor: Int32

    package init(_ path: String, reads: Bool = true) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SystemError("connect") }
        if reads { startReading() }
    }

    /// Connects to a port of this machine.
    package init(port: Int, reads: Bool = true) throws {
        descriptor = try LoopbackSocket.connect(port: port)
        if reads { startReading() }
    }

    /// Sets how much the kernel keeps for this client, in bytes. Without this, the kernel may keep megabytes for a client
    /// that does not read.
    package func setBuffer(_ size: Int32) throws {
        var size = size
        let result = setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        guard result == 0 else { throw SystemError("setsockopt") }
    }

    package func startReading() {
        // The thread retains self, so the descriptor is closed only when no thread uses its number any more.
        Thread.detachNewThread { [self] in
            var piece = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(descriptor, &piece, piece.count)
                if count <= 0 {
                    received.update { $0.isClosed = true }
                    return
                }
                received.update { $0.bytes += piece[..<count] }
            }
        }
    }

    /// Sends the text. Returns false if the server has closed the connection.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    deinit { Glibc.close(descriptor) }

    /// Waits until the kernel has at least `count` bytes that this client has not read. Returns false if it does not
    /// within the limit.
    package func hasUnread(_ count: Int32, atMost limit: Duration = .seconds(30)) async -> Bool {
        let end = ContinuousClock.now + limit
        var unread: Int32 = 0
        while ioctl(descriptor, UInt(FIONREAD), &unread) == 0, unread < count {
            if ContinuousClock.now > end { return false }
            await Task.yield()
        }
        return unread >= count
    }

    /// Ends the sending direction. The answer may still come.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Waits until the server has closed the connection.
    package func answer() async throws -> Received {
        guard await received.wait(until: \.isClosed) else { throw SystemError("no end of the answer", code: ETIMEDOUT) }
        return received.value
    }
}
