import Dispatch
import Foundation
import Synchronization

/// An HTTP server on the loopback interface that answers, and fails, as a script says. It speaks HTTP/1.1, with TLS on
/// request, and HTTP/2 if TLS offers it. Each connection has a thread. The server ends with this object, or with
/// ``stop()``.
package final class FaultServer: Sendable {
    package typealias Handler = @Sendable (FaultRequest) -> FaultReply
    /// Returns the TLS behaviour of a connection by its number.
    package typealias Security = @Sendable (Int) -> TLSBehaviour

    package let port: Int
    private let scheme: String
    private let core: Core

    /// The state that the threads share.
    final class Core: Sendable {
        let log = Observed(ServerLog())
        let handler: Mutex<Handler>
        /// The TLS behaviour. Nil for a server without TLS.
        let tls: Mutex<Security?>
        /// The descriptors that ``FaultServer/stop()`` must wake. Nil once the server is stopped.
        let open = Mutex<Set<Int32>?>([])
        let threads = DispatchGroup()
        /// Whether the last bytes are held back, see ``FaultServer/holdEnds()``.
        let holdsEnds = Atomic(false)
        var isHoldingEnds: Bool { holdsEnds.load(ordering: .acquiring) }

        init(_ tls: Security?, _ handler: @escaping Handler) {
            self.tls = Mutex(tls)
            self.handler = Mutex(handler)
        }

        /// Registers a descriptor. Returns false if the server is stopped.
        func register(_ descriptor: Int32) -> Bool { open.withLock { $0?.insert(descriptor) } != nil }

        /// Closes a connection under the lock, so that `stop` does not shut down another connection with the same
        /// number.
        func closeConnection(_ descriptor: Int32) {
            open.withLock {
                $0?.remove(descriptor)
                close(descriptor)
            }
            log.update { $0.openConnections -= 1 }
        }
    }

    /// - Parameters:
    ///   - port: a port that no program uses. Nil means any.
    ///   - host: the last number of the server's address, 127.0.0.`host`.
    package init(port: Int? = nil, host: UInt8 = 1, tls: Security? = nil, _ handler: @escaping Handler) throws {
        core = Core(tls, handler)
        scheme = tls == nil ? "http" : "https"
        let listener = try LoopbackSocket.listen(port: port, host: host, backlog: 1024)
        self.port = listener.port
        _ = core.register(listener.descriptor)
        core.threads.enter()
        Thread.detachNewThread { [core] in
            Self.accept(on: listener.descriptor, core)
            core.threads.leave()
        }
    }

    deinit { stop() }

    /// Starts a server that serves one file under every path, without faults.
    package static func serving(
        _ content: Content, etag: String? = nil, lastModified: String? = nil
    ) throws -> FaultServer {
        try FaultServer { _ in FaultReply(content, etag: etag, lastModified: lastModified) }
    }

    /// Serves this content under every path from now on.
    package func change(to content: Content, etag: String? = nil, lastModified: String? = nil) {
        handle { _ in FaultReply(content, etag: etag, lastModified: lastModified) }
    }

    /// Answers with this script from now on.
    package func handle(_ handler: @escaping Handler) { core.handler.withLock { $0 = handler } }

    /// Secures connections in this way from now on.
    package func secure(_ tls: @escaping Security) { core.tls.withLock { $0 = tls } }

    /// Holds back the last byte of each large content until ``releaseEnds()``, for every client. So no download ends
    /// before the test has done its work.
    package func holdEnds() { core.holdsEnds.store(true, ordering: .releasing) }

    package func releaseEnds() { core.holdsEnds.store(false, ordering: .releasing) }

    package func url(_ path: String = "/file.bin") -> String { "\(scheme)://127.0.0.1:\(port)\(path)" }

    package var log: ServerLog { core.log.value }

    /// Waits until all replies are over, and returns the number of body bytes that were sent. The log learns of bytes after
    /// they were handed to the kernel, so a client may have them earlier.
    package func bytesSentInAll() async -> Int64 {
        _ = await waitUntil { $0.entries.allSatisfy(\.isOver) }
        return log.bytesSent
    }

    /// Waits until the log meets a condition. Returns false if it does not within the limit.
    package func waitUntil(
        atMost limit: Duration = .seconds(45), _ isMet: @escaping @Sendable (ServerLog) -> Bool
    ) async -> Bool {
        await core.log.wait(atMost: limit, until: isMet)
    }

    /// Ends all connections and waits for the threads.
    package func stop() {
        core.open.withLock { open in
            for descriptor in open ?? [] { shutdown(descriptor, Int32(SHUT_RDWR)) }
            open = nil
        }
        core.threads.wait()
    }

    private static func accept(on listener: Int32, _ core: Core) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            if descriptor < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                break
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            guard core.register(descriptor) else {
                close(descriptor)
                break
            }
            let number = core.log.update { log -> Int in
                log.connections += 1
                log.openConnections += 1
                log.peakConnections = max(log.peakConnections, log.openConnections)
                return log.connections
            }
            core.threads.enter()
            Thread.detachNewThread {
                FaultConnection(wire: Wire(descriptor), number: number, core: core).serve()
                core.closeConnection(descriptor)
                core.threads.leave()
            }
        }
        close(listener)
    }
}
