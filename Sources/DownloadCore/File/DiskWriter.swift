import Foundation
import Synchronization

/// The threads that touch the disk, so that neither the engines nor Swift's pool ever wait for it: one writes in
/// order, one syncs and renames, others hash.
package final class DiskWriter: Sendable {
    private let writes = DispatchQueue(label: "dlm.write", qos: .userInitiated)
    private let syncs = DispatchQueue(label: "dlm.sync", qos: .utility)
    /// Several files are hashed at once: a large one must not hold up the ends of small ones.
    package let digests = DispatchQueue(label: "dlm.digest", qos: .userInitiated, attributes: .concurrent)
    package let pool: BufferPool
    package let time: any TimeSource
    private let round = Mutex<[@Sendable () -> Void]>([])
    private static let roundTime = Duration.milliseconds(20)

    package init(pool: BufferPool, time: any TimeSource = SystemTime()) {
        self.pool = pool
        self.time = time
    }

    /// Writes the first `count` bytes of the buffer and gives it back to the pool.
    package func write(_ buffer: PoolBuffer, count: Int, to file: any SegmentTarget, at offset: Int64) {
        writes.async { self.writeNow(buffer, count: count, to: file, at: offset) }
    }

    /// As ``write(_:count:to:at:)``, on the writer's thread.
    func writeNow(_ buffer: PoolBuffer, count: Int, to file: any SegmentTarget, at offset: Int64) {
        file.write(UnsafeRawBufferPointer(start: buffer.bytes, count: count), at: offset)
        pool.give(buffer)
    }

    /// Runs after all writes handed over so far.
    package func afterWrites(_ action: @escaping @Sendable () -> Void) {
        writes.async(execute: action)
    }

    /// The same, and not before that time has passed.
    func afterWrites(in delay: Duration, _ action: @escaping @Sendable () -> Void) {
        time.schedule(after: delay, on: writes, action)
    }

    /// As ``afterWrites(_:)``, after 20 ms at most and with all that others ask for by then: many small things, in a few
    /// turns.
    func soon(_ action: @escaping @Sendable () -> Void) {
        let isFirst = round.withLock { round in
            round.append(action)
            return round.count == 1
        }
        if !isFirst { return }
        time.schedule(after: Self.roundTime, on: writes) { [self] in
            let actions = round.withLock { round in
                defer { round = [] }
                return round
            }
            // This turn may have waited in the queue while a write and an action after it came: the action runs behind
            // that write.
            writes.async { for action in actions { action() } }
        }
    }

    /// Returns when all writes handed over so far are done.
    package func afterWrites() async {
        await withCheckedContinuation { continuation in writes.async { continuation.resume() } }
    }

    /// Runs on the writer's thread, in order with the writes.
    package func onWriter<T: Sendable>(
        _ body: @escaping @Sendable () throws(DownloadError) -> T
    ) async throws(DownloadError) -> T {
        let result: Result<T, DownloadError> = await withCheckedContinuation { continuation in
            writes.async {
                do throws(DownloadError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Runs on the thread that may wait for the disk.
    package func sync<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            syncs.async { continuation.resume(returning: body()) }
        }
    }

    /// Makes what is written durable, some time soon; a failure stays with the file.
    package func syncSoon(_ file: PartialFile) {
        syncs.async {
            do throws(DownloadError) { try file.syncWithName() } catch { file.fail(error) }
        }
    }
}
