import NIOCore
import Synchronization

/// A gate through which tasks run code on the event loop. The gate is closed before the loop ends, because tasks of the
/// service may outlast the server, and a loop that has ended accepts no code.
package final class EventLoopGate: Sendable {
    private let eventLoop: any EventLoop
    private let isOpen = Mutex(true)

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Runs `body` on the event loop. Returns false if the server has ended; then `body` is not run.
    package func execute(_ body: @escaping @Sendable () -> Void) -> Bool {
        isOpen.withLock { isOpen in
            if isOpen { eventLoop.execute(body) }
            return isOpen
        }
    }

    func shut() { isOpen.withLock { $0 = false } }
}
