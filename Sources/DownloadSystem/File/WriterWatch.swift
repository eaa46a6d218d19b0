import CSystem
import DownloadCore
import Glibc
import Synchronization

/// The watch for other programs that write to partial files. It uses inotify(7) with one descriptor for the process and
/// without a thread: events are read when a caller asks.
///
/// A write is noticed when the other program closes a file that was open for writing, or drops its last mapping of the
/// file. A program that still has the file open is not noticed. Nothing is noticed if the system gives no watch, for
/// example at the limits of inotify or without /proc. Writes by other machines to a network file system are not noticed
/// either.
package final class WriterWatch: Sendable {
    package static let shared = WriterWatch()

    private struct Watch {
        let file: FileIdentity
        let device: UInt64
        var isWritten = false
        /// The descriptors that earlier attempts at the same file have handed over to be closed. Closing them during
        /// the watch would look like a close by another program.
        var leftovers: [Int32] = []
    }

    private struct State {
        /// The inotify descriptor. Nil before the first watch, -1 if the system gave none.
        var descriptor: Int32?
        /// The watches by their inotify numbers. The kernel does not soon reuse the number of a watch that has ended.
        var watches: [Int32: Watch] = [:]
    }

    private let state = Mutex(State())

    /// Begins to watch an open file. Returns nil if the system gives no watch. A file has at most one watch at a time.
    package func begin(_ descriptor: Int32, _ file: FileIdentity, device: UInt64) -> Int32? {
        state.withLock { state in
            let watches = state.descriptor ?? dlm_watch_create()
            state.descriptor = watches
            let watch = dlm_watch_add(watches, descriptor)
            guard watch >= 0 else { return nil }
            state.watches[watch] = Watch(file: file, device: device)
            return watch
        }
    }

    /// Returns whether another program has written to the file since `begin` or the last `forget`.
    package func isWritten(_ watch: Int32) -> Bool {
        state.withLock { state in
            Self.read(&state)
            return state.watches[watch]?.isWritten ?? false
        }
    }

    /// Forgets the writes noticed so far.
    package func forget(_ watch: Int32) {
        state.withLock { state in
            Self.read(&state)
            state.watches[watch]?.isWritten = false
        }
    }

    package func end(_ watch: Int32) {
        state.withLock { state in
            if let descriptor = state.descriptor { _ = dlm_watch_remove(descriptor, watch) }
            // The descriptors are closed under the lock. Otherwise a new watch could begin before the close and notice
            // the close.
            for descriptor in state.watches.removeValue(forKey: watch)?.leftovers ?? [] { Glibc.close(descriptor) }
        }
    }

    /// Closes a descriptor that was open for writing. If the file is watched, the descriptor is closed when the watch
    /// ends.
    package func close(_ descriptor: Int32, _ file: FileIdentity, device: UInt64) {
        state.withLock { state in
            if let watch = state.watches.first(where: { $0.value.device == device && $0.value.file.isSame(as: file) }) {
                state.watches[watch.key]?.leftovers.append(descriptor)
            } else {
                // Closed under the lock, for the same reason as in `end`.
                Glibc.close(descriptor)
            }
        }
    }

    /// Runs `start`, which starts a process. While `start` runs, no descriptor of a partial file is closed. Until the
    /// new process runs its program, it has copies of all descriptors of this process. If this process closed a
    /// descriptor meanwhile, the new process would close the last copy, which would look like a write by another
    /// program.
    package func withoutClosing<Value>(_ start: () -> Value) -> Value { state.withLock { _ in start() } }

    private static func read(_ state: inout State) {
        guard let descriptor = state.descriptor else { return }
        var closed = [Int32](repeating: 0, count: 64)
        while true {
            let count = Int(dlm_watch_read(descriptor, &closed, Int32(closed.count)))
            if count <= 0 { return }
            for watch in closed.prefix(count) {
                // A negative number means that the kernel lost events. Then any file may have been written.
                for key in watch < 0 ? Array(state.watches.keys) : [watch] { state.watches[key]?.isWritten = true }
            }
        }
    }
}

/// The way in which a session starts other processes while its downloads run.
package enum ProcessStart {
    /// A C array of texts that ends with NULL.
    package typealias CStrings = UnsafePointer<UnsafeMutablePointer<CChar>?>

    /// Runs `start` with C arrays of the program's arguments and of its environment. Until it returns, this process
    /// closes no descriptor of a partial file.
    /// - Parameters:
    ///   - arguments: The arguments, of which the first is the name of the program.
    ///   - start: Returns once the program runs or cannot be run, as posix_spawn(3) does.
    package static func alone<Value>(
        _ arguments: [String], _ environment: [String: String], _ start: (CStrings, CStrings) -> Value
    ) -> Value {
        var words = arguments.map { strdup($0) } + [nil]
        var settings = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + settings { free(text) } }
        return WriterWatch.shared.withoutClosing { start(&words, &settings) }
    }
}
