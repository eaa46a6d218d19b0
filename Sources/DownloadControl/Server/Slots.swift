import Synchronization

/// A limit for things that are open at the same time, such as event streams.
package final class Slots: Sendable {
    private let free: Mutex<Int>

    package init(_ count: Int) { free = Mutex(count) }

    /// Takes a slot; returns nil if all slots are taken. The slot becomes free when the last reference to it is gone.
    package func take() -> Slot? {
        free.withLock { free in
            guard free > 0 else { return nil }
            free -= 1
            return Slot(self)
        }
    }

    package final class Slot: Sendable {
        private let slots: Slots

        fileprivate init(_ slots: Slots) { self.slots = slots }

        deinit { slots.free.withLock { $0 += 1 } }
    }
}
