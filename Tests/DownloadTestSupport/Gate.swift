import Synchronization

/// A place at which bodies stop until a test opens the gate. So a download lasts as long as the test needs, even on a
/// busy machine.
package final class Gate: Sendable {
    /// The number of bytes of each body that are sent before the stop.
    let place: Int64
    private let opened = Atomic(false)

    package init(after place: Int64) { self.place = place }

    package var isOpen: Bool { opened.load(ordering: .acquiring) }

    package func open() { opened.store(true, ordering: .releasing) }
}
