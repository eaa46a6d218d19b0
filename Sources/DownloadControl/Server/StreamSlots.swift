import Synchronization

/// A limit for the number of streams that are open at once.
final class StreamSlots: Sendable {
    private let free: Mutex<Int>

    init(_ count: Int) { free = Mutex(count) }

    /// Takes a slot; returns nil if all slots are taken. The slot becomes free when the last reference to it is gone.
    func take() -> Slot? {
        free.withLock { free in
            guard free > 0 else { return nil }
            free -= 1
            return Slot(self)
        }
    }

    final class Slot: Sendable {
        private let slots: StreamSlots

        fileprivate init(_ slots: StreamSlots) { self.slots = slots }

        deinit { slots.free.withLock { $0 += 1 } }
    }
}
