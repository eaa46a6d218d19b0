import Synchronization

/// How many streams may be open at once.
final class StreamSlots: Sendable {
    private let free: Mutex<Int>

    init(_ count: Int) { free = Mutex(count) }

    /// Nil when all are taken; given back when the last one who knows it has gone.
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
