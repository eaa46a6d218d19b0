import CSystem
import Glibc
import Synchronization

/// Tells which partial files another program has written to: through inotify(7), one descriptor for the process and no
/// thread; what has happened is read when somebody asks.
///
/// What is noticed is that a program closed a file that it had open for writing (for one that mapped it, that the last
/// mapping is gone). A program that still has it open is not noticed. Where the system gives no watch (its limits, no
/// /proc, a network file system) nothing is.
final class WriterWatch: Sendable {
    static let shared = WriterWatch()

    private struct Watch {
        let file: FileIdentity
        let device: UInt64
        var isWritten = false
        /// Of earlier attempts at the same file: their end would look like that of another program.
        var leftovers: [Int32] = []
    }

    private struct State {
        /// Nil before the first watch, -1 when there can be none.
        var descriptor: Int32?
        /// By their numbers, which the kernel does not use again soon.
        var watches: [Int32: Watch] = [:]
    }

    private let state = Mutex(State())

    /// Watches an open file; nil where that cannot be had. One watch for each file at a time.
    func begin(_ descriptor: Int32, _ file: FileIdentity, device: UInt64) -> Int32? {
        state.withLock { state in
            let watches = state.descriptor ?? dlm_watch_create()
            state.descriptor = watches
            let watch = dlm_watch_add(watches, descriptor)
            guard watch >= 0 else { return nil }
            state.watches[watch] = Watch(file: file, device: device)
            return watch
        }
    }

    /// Whether another program has written to it since `begin`, or since `forget`.
    func isWritten(_ watch: Int32) -> Bool {
        state.withLock { state in
            Self.read(&state)
            return state.watches[watch]?.isWritten ?? false
        }
    }

    /// What was written so far is of no account any more.
    func forget(_ watch: Int32) {
        state.withLock { state in
            Self.read(&state)
            state.watches[watch]?.isWritten = false
        }
    }

    func end(_ watch: Int32) {
        state.withLock { state in
            if let descriptor = state.descriptor { _ = dlm_watch_remove(descriptor, watch) }
            // Under the lock: a watch that began before they are closed would see it.
            for descriptor in state.watches.removeValue(forKey: watch)?.leftovers ?? [] { Glibc.close(descriptor) }
        }
    }

    /// Closes a descriptor that was open for writing, not before the end of a watch of its file.
    func close(_ descriptor: Int32, _ file: FileIdentity, device: UInt64) {
        state.withLock { state in
            if let watch = state.watches.first(where: { $0.value.device == device && $0.value.file.isSame(as: file) }) {
                state.watches[watch.key]?.leftovers.append(descriptor)
            } else {
                // Under the lock, for the same reason.
                Glibc.close(descriptor)
            }
        }
    }

    /// A process that is being started has all descriptors of this one until it runs its program. None of ours is closed
    /// before that: the new process would close it last, and be taken for another program that has written.
    func withoutClosing<Value>(_ start: () -> Value) -> Value { state.withLock { _ in start() } }

    private static func read(_ state: inout State) {
        guard let descriptor = state.descriptor else { return }
        var closed = [Int32](repeating: 0, count: 64)
        while true {
            let count = Int(dlm_watch_read(descriptor, &closed, Int32(closed.count)))
            if count <= 0 { return }
            for watch in closed.prefix(count) {
                // The kernel lost some: nothing is known of any.
                for key in watch < 0 ? Array(state.watches.keys) : [watch] { state.watches[key]?.isWritten = true }
            }
        }
    }
}

/// How a session may start other processes while its downloads run.
package enum ProcessStart {
    /// - Parameter start: returns once the program runs, or cannot be run, as posix_spawn(3) does.
    package static func alone<Value>(_ start: () -> Value) -> Value { WriterWatch.shared.withoutClosing(start) }
}
