import Synchronization

/// Where bodies stand still until a test opens it: a download lasts as long as the test needs it to, on a busy machine, too.
package final class Gate: Sendable {
    /// Bytes of each body.
    let place: Int64
    private let opened = Atomic(false)

    package init(after place: Int64) { self.place = place }

    package var isOpen: Bool { opened.load(ordering: .acquiring) }

    package func open() { opened.store(true, ordering: .releasing) }
}
