import DownloadCore
import Synchronization

/// A buffer on loan from the pool. The code that has the buffer gives it back to the pool or hands it on.
package struct PoolBuffer: @unchecked Sendable {
    package let bytes: UnsafeMutableRawPointer
    let size: Int
}

/// The buffers between the engine threads and the disk. The pool slows transfers down when the disk is slower than the
/// network: a transfer that gets no buffer pauses. The engine never waits.
package final class BufferPool: Sendable {
    /// The usual limit of buffers, 10 MiB together. A higher limit is not worth its memory, because downloads are
    /// hardly faster with more than 8 buffers (docs/internals/session.md).
    package static let standardCapacity = 40
    /// The capacity for a session in which 200 downloads or more may run at once.
    package static let crowdedCapacity = 16
    /// The size of a buffer in bytes. It is large enough to make `pwrite` cheap, and small enough to allow many buffers
    /// (docs/internals/attempt.md).
    package static let bufferSize = 256 << 10
    /// The size of the buffers for small bodies, in bytes (``DiskWriter/smallPool``).
    static let smallSize = 32 << 10
    /// The limit of buffers for small bodies, 4 MiB together.
    static let smallCapacity = 128

    private struct State: @unchecked Sendable {
        var free: [UnsafeMutableRawPointer] = []
        var made = 0
        /// The transfers that wait, in order, behind some of those that were woken last.
        var waiters: [@Sendable () -> Void] = []
        var nextWaiter = 0

        /// Removes those that were woken as soon as they are half of the array. So a removal costs little on average,
        /// and they stay in memory only for a short time even if other transfers wait at all times.
        mutating func takeWaiter() -> (@Sendable () -> Void)? {
            guard nextWaiter < waiters.count else { return nil }
            let waiter = waiters[nextWaiter]
            nextWaiter += 1
            if 2 * nextWaiter >= waiters.count {
                waiters.removeFirst(nextWaiter)
                nextWaiter = 0
            }
            return waiter
        }
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let size: Int
    private let waiting = Atomic(0)
    /// The number of buffers that are not free.
    private let used = Atomic(0)

    package init(capacity: Int = BufferPool.standardCapacity, size: Int = BufferPool.bufferSize) {
        self.capacity = capacity
        self.size = size
    }

    /// Whether transfers wait for a buffer. If so, other transfers hand buffers to the disk before they are full.
    var isContended: Bool { waiting.load(ordering: .relaxed) > 0 }

    /// Whether more than half of the buffers are in use. If so, transfers arrange to hand over their buffers, so that
    /// these are free soon after another transfer has found no buffer.
    var isScarce: Bool { 2 * used.load(ordering: .relaxed) > capacity }

    deinit {
        state.withLock { state in for bytes in state.free { bytes.deallocate() } }
    }

    func take() -> PoolBuffer? { state.withLock { take(&$0) } }

    /// Takes a buffer, or returns nil if no buffer is free. After nil, `whenFree` is called once, on any thread, when a
    /// buffer may be free.
    package func take(whenFree: @escaping @Sendable () -> Void) -> PoolBuffer? {
        state.withLock { state in
            if let buffer = take(&state) { return buffer }
            state.waiters.append(whenFree)
            waiting.add(1, ordering: .relaxed)
            return nil
        }
    }

    private func take(_ state: inout State) -> PoolBuffer? {
        let bytes: UnsafeMutableRawPointer
        if let free = state.free.popLast() {
            bytes = free
        } else if state.made < capacity {
            state.made += 1
            bytes = .allocate(byteCount: size, alignment: 4096)
        } else {
            return nil
        }
        used.add(1, ordering: .relaxed)
        return PoolBuffer(bytes: bytes, size: size)
    }

    package func give(_ buffer: PoolBuffer) {
        state.withLock { $0.free.append(buffer.bytes) }
        used.subtract(1, ordering: .relaxed)
        wakeOne()
    }

    /// Wakes the next waiter, if a buffer is free. Also called by a waiter that was woken and no longer needs a buffer.
    package func wakeOne() {
        let waiter: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.free.isEmpty, let waiter = state.takeWaiter() else { return nil }
            waiting.subtract(1, ordering: .relaxed)
            return waiter
        }
        waiter?()
    }
}
