import NIOCore
import Synchronization

/// The way from tasks to the event loop, shut before the loop ends: work in the service may outlive the server, and an
/// ended loop takes nothing.
package final class EventLoopGate: Sendable {
    private let eventLoop: any EventLoop
    private let isOpen = Mutex(true)

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// - Returns: false when the server has ended: `body` is not run then.
    package func execute(_ body: @escaping @Sendable () -> Void) -> Bool {
        isOpen.withLock { isOpen in
            if isOpen { eventLoop.execute(body) }
            return isOpen
        }
    }

    func shut() { isOpen.withLock { $0 = false } }
}
