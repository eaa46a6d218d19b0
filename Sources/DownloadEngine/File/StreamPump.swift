import DownloadCore
import Foundation
import Synchronization

/// The way from the spool of several connections, which bring parts in any order, to the stream. It has a thread of its
/// own, because a write to a pipe waits for the reader.
package final class StreamPump: Sendable {
    let file: PartialFile
    private let stream: StreamOutput
    private let queue = DispatchQueue(label: "dlm.stream", qos: .userInitiated)
    private let isScheduled = Atomic(false)

    init(from file: PartialFile, to stream: StreamOutput) { (self.file, self.stream) = (file, stream) }

    /// Makes every write to the spool move its bytes on.
    /// - Parameter moved: Called when room for more bytes has come, or when the stream has failed.
    func follow(_ moved: @escaping @Sendable () -> Void) {
        file.notifyWrites { [weak self] in self?.advance(moved) }
    }

    private func advance(_ moved: @escaping @Sendable () -> Void) {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isScheduled.store(false, ordering: .releasing)
            pump(moved)
        }
    }

    /// Calls `done` when all bytes before the first gap are delivered, or when the stream has failed.
    /// - Parameter moved: The same as of ``follow(_:)``.
    func drain(_ moved: @escaping @Sendable () -> Void = {}, done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            pump(moved)
            done()
        }
    }

    private func pump(_ moved: () -> Void) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: BufferPool.bufferSize, alignment: 4096)
        defer { buffer.deallocate() }
        // The attempt needs no message for each buffer.
        let step = file.ring / 16
        do throws(DownloadError) {
            while !stream.refusesWrites, let range = try file.take(into: buffer) {
                stream.write(UnsafeRawBufferPointer(rebasing: buffer[..<range.count]), at: range.lowerBound)
                if range.lowerBound / step != range.upperBound / step { moved() }
            }
        } catch {
            file.fail(error)
        }
        if stream.refusesWrites || file.failure != nil { moved() }
    }
}
