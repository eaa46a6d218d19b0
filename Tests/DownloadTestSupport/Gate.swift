import Synchronization

/// A gate at which bodies stop until a test opens it. So a download lasts as long as the test needs, also on a busy
/// machine.
package final class Gate: Sendable {
    /// The number of bytes of each body before the gate.
    let place: Int64
    private let opened = Atomic(false)

    package init(after place: Int64) { self.place = place }

    package var isOpen: Bool { opened.load(ordering: .acquiring) }

    package func open() { opened.store(true, ordering: .releasing) }
}
