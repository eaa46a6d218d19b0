import Synchronization

/// A buffer on loan from the pool; whoever holds it gives it back, or hands it on.
package struct PoolBuffer: @unchecked Sendable {
    package let bytes: UnsafeMutableRawPointer
}

/// The buffers between the engine threads and the disk. An empty pool is the back-pressure: a transfer that gets no
/// buffer pauses, the engine never waits.
package final class BufferPool: Sendable {
    /// 10 MiB of buffers: from 8 on more are hardly faster, and a session is to stay small (docs/architecture.md).
    package static let standardCapacity = 40
    /// For a crowd of slow downloads.
    package static let crowdedCapacity = 16
    /// Large enough to make `pwrite` cheap, small enough for many (docs/architecture.md).
    package static let bufferSize = 256 << 10

    private struct State: @unchecked Sendable {
        var free: [UnsafeMutableRawPointer] = []
        var made = 0
        var waiters: [@Sendable () -> Void] = []
        var nextWaiter = 0
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let waiting = Atomic(0)

    package init(capacity: Int = BufferPool.standardCapacity) { self.capacity = capacity }

    /// Others wait: whoever has a buffer is to hand it on before it is full.
    var isContended: Bool { waiting.load(ordering: .relaxed) > 0 }

    deinit {
        state.withLock { state in for bytes in state.free { bytes.deallocate() } }
    }

    /// A buffer, or nil; then `whenFree` is called once, on any thread, when it is worth asking again.
    package func take(whenFree: @escaping @Sendable () -> Void) -> PoolBuffer? {
        state.withLock { state in
            if let bytes = state.free.popLast() { return PoolBuffer(bytes: bytes) }
            if state.made < capacity {
                state.made += 1
                return PoolBuffer(bytes: .allocate(byteCount: Self.bufferSize, alignment: 4096))
            }
            state.waiters.append(whenFree)
            waiting.add(1, ordering: .relaxed)
            return nil
        }
    }

    package func give(_ buffer: PoolBuffer) {
        state.withLock { $0.free.append(buffer.bytes) }
        wakeOne()
    }

    /// Passes a chance on: for a waiter that was woken and needs no buffer any more.
    package func wakeOne() {
        let waiter: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.free.isEmpty, state.nextWaiter < state.waiters.count else { return nil }
            defer {
                state.nextWaiter += 1
                waiting.subtract(1, ordering: .relaxed)
                if state.nextWaiter == state.waiters.count {
                    state.waiters.removeAll(keepingCapacity: true)
                    state.nextWaiter = 0
                }
            }
            return state.waiters[state.nextWaiter]
        }
        waiter?()
    }
}
