import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// The queues whose threads use the disk, so that neither the engine threads nor Swift's thread pool wait for the disk.
/// One queue writes in order, one syncs, and one hashes several files at once.
package final class DiskWriter: Sendable {
    private let writes = DispatchQueue(label: "dlm.write", qos: .userInitiated)
    private let syncs = DispatchQueue(label: "dlm.sync", qos: .utility)
    /// The queue for digests. It is concurrent, so that hashing a large file does not delay the completion of small
    /// files.
    package let digests = DispatchQueue(label: "dlm.digest", qos: .userInitiated, attributes: .concurrent)
    package let pool: BufferPool
    /// The buffers of bodies that are known to be small. Without them, a few small files that wait for the disk have all
    /// buffers of the pool. With 5,000 files of 16 KiB, transfers that paused for this took 3 % of the time.
    let smallPool = BufferPool(capacity: BufferPool.smallCapacity, size: BufferPool.smallSize)
    package let time: any TimeSource
    private let round = Mutex(Round())
    private static let roundTime = Duration.milliseconds(20)

    /// The actions that are run together.
    private struct Round {
        var actions: [@Sendable () -> Void] = []
        var isScheduled = false
    }

    package init(pool: BufferPool, time: any TimeSource = SystemTime()) {
        self.pool = pool
        self.time = time
    }

    func give(_ buffer: PoolBuffer) { (buffer.size == BufferPool.smallSize ? smallPool : pool).give(buffer) }

    /// Writes the first `count` bytes of the buffer and gives it back to the pool.
    package func write(_ buffer: PoolBuffer, count: Int, to file: any SegmentTarget, at offset: Int64) {
        writes.async { self.writeNow(buffer, count: count, to: file, at: offset) }
    }

    /// Writes like ``write(_:count:to:at:)``, but at once. Called on the thread of the write queue.
    func writeNow(_ buffer: PoolBuffer, count: Int, to file: any SegmentTarget, at offset: Int64) {
        file.write(UnsafeRawBufferPointer(start: buffer.bytes, count: count), at: offset)
        give(buffer)
    }

    /// Runs the action on the write queue, after all writes that were handed over so far.
    package func afterWrites(_ action: @escaping @Sendable () -> Void) {
        writes.async(execute: action)
    }

    /// Runs the action on the write queue when the delay has passed, after all writes that were handed over before that
    /// moment.
    func afterWrites(in delay: Duration, _ action: @escaping @Sendable () -> Void) {
        time.schedule(after: delay, on: writes, action)
    }

    /// Runs the action like ``afterWrites(_:)``, within about 20 ms or when ``hurry()`` is called. All actions of these
    /// 20 ms run together, because many small jobs on the queue cost more than one.
    func soon(_ action: @escaping @Sendable () -> Void) {
        let isScheduled = round.withLock { round in
            round.actions.append(action)
            defer { round.isScheduled = true }
            return round.isScheduled
        }
        if isScheduled { return }
        time.schedule(after: Self.roundTime, on: writes) { [self] in
            round.withLock { $0.isScheduled = false }
            hurry()
        }
    }

    /// Runs the actions that were given to ``soon(_:)`` now, after all writes that were handed over so far.
    func hurry() {
        let actions = round.withLock { round in
            defer { round.actions = [] }
            return round.actions
        }
        // If this is a call at the end of a round, it may have waited in the queue while another write and its action
        // were added. Queueing the actions again makes sure that each of them runs after its write.
        if !actions.isEmpty { writes.async { for action in actions { action() } } }
    }

    /// Waits until all writes that were handed over so far are done.
    package func afterWrites() async {
        await writes.run {}
    }

    /// Runs the body on the write queue, in order with the writes.
    package func onWriter<T: Sendable>(
        _ body: @escaping @Sendable () throws(DownloadError) -> T
    ) async throws(DownloadError) -> T {
        try await writes.run(body)
    }

    /// Syncs the file soon, on the sync queue. A failure is recorded in the file object.
    /// - Parameter whenDone: Called on the sync queue after the sync.
    package func syncSoon(_ file: PartialFile, whenDone: @escaping @Sendable () -> Void = {}) {
        syncs.async {
            do throws(DownloadError) { try file.syncWithName() } catch { file.fail(error) }
            whenDone()
        }
    }

    /// Syncs the file like ``syncSoon(_:whenDone:)``, and waits for the sync, but not longer than `limit`.
    func sync(_ file: PartialFile, atMost limit: Duration) async {
        let isOver = Signal()
        syncSoon(file) { isOver.send() }
        time.schedule(after: limit, on: .global()) { isOver.send() }
        await isOver.wait()
    }
}
