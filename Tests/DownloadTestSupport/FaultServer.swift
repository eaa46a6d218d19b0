import Dispatch
import Foundation
import Synchronization

/// An HTTP server on the loopback interface that answers, and fails, as a script says: HTTP/1.1, over TLS where asked
/// for, and HTTP/2 where TLS offers it. One thread a connection. End it with ``stop()``.
package final class FaultServer: Sendable {
    package typealias Handler = @Sendable (FaultRequest) -> FaultReply
    /// What TLS does to a connection, by its number.
    package typealias Security = @Sendable (Int) -> TLSBehaviour

    package let port: Int
    private let scheme: String
    private let core: Core

    /// What the threads share.
    final class Core: Sendable {
        let log = Observed(ServerLog())
        let handler: Mutex<Handler>
        /// Nil for a server without TLS.
        let tls: Mutex<Security?>
        /// Descriptors that ``FaultServer/stop()`` must wake; nil once stopped.
        let open = Mutex<Set<Int32>?>([])
        let threads = DispatchGroup()
        /// See ``FaultServer/holdEnds()``.
        let holdsEnds = Atomic(false)
        var isHoldingEnds: Bool { holdsEnds.load(ordering: .acquiring) }

        init(_ tls: Security?, _ handler: @escaping Handler) {
            self.tls = Mutex(tls)
            self.handler = Mutex(handler)
        }

        /// True if the server still runs and now knows the descriptor.
        func register(_ descriptor: Int32) -> Bool { open.withLock { $0?.insert(descriptor) } != nil }

        /// Closes under the lock: a number that the kernel gives out again must not be shut down by `stop`.
        func closeConnection(_ descriptor: Int32) {
            open.withLock {
                $0?.remove(descriptor)
                close(descriptor)
            }
            log.update { $0.openConnections -= 1 }
        }
    }

    package init(tls: Security? = nil, _ handler: @escaping Handler) throws {
        core = Core(tls, handler)
        scheme = tls == nil ? "http" : "https"
        let listener = try LoopbackSocket.listen(backlog: 1024)
        port = listener.port
        _ = core.register(listener.descriptor)
        core.threads.enter()
        Thread.detachNewThread { [core] in
            Self.accept(on: listener.descriptor, core)
            core.threads.leave()
        }
    }

    /// One file under every path, served as it should be.
    package static func serving(
        _ content: Content, etag: String? = nil, lastModified: String? = nil
    ) throws -> FaultServer {
        try FaultServer { _ in FaultReply(content, etag: etag, lastModified: lastModified) }
    }

    /// From now on every path has this content.
    package func change(to content: Content, etag: String? = nil, lastModified: String? = nil) {
        handle { _ in FaultReply(content, etag: etag, lastModified: lastModified) }
    }

    /// From now on this script answers.
    package func handle(_ handler: @escaping Handler) { core.handler.withLock { $0 = handler } }

    /// From now on connections are secured so.
    package func secure(_ tls: @escaping Security) { core.tls.withLock { $0 = tls } }

    /// From now on the last byte of each large content waits for ``releaseEnds()``, whoever asks for it: no download is done
    /// before the test has done what it wants to do meanwhile.
    package func holdEnds() { core.holdsEnds.store(true, ordering: .releasing) }

    package func releaseEnds() { core.holdsEnds.store(false, ordering: .releasing) }

    package func url(_ path: String = "/file.bin") -> String { "\(scheme)://127.0.0.1:\(port)\(path)" }

    package var log: ServerLog { core.log.value }

    /// Waits for something in the log; false when it did not come within the limit.
    package func waitUntil(
        atMost limit: Duration = .seconds(45), _ isMet: @escaping @Sendable (ServerLog) -> Bool
    ) async -> Bool {
        await core.log.wait(atMost: limit, until: isMet)
    }

    /// Ends every connection and waits for the threads.
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
