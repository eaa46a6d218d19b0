import Foundation

/// Counts the reports of inotify(7) about the files in a folder; a report may be of several changes. So a test asks
/// again only when the answer may have changed. End the watch with ``stop()``.
package final class FolderChanges: Sendable {
    private let descriptor: Int32
    private let watch: Int32
    private let count = Observed(0)

    /// - Parameter folder: the folder. It is made if it is missing.
    package init(of folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError("inotify_init1") }
        watch = inotify_add_watch(descriptor, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE))
        guard watch >= 0 else {
            let error = SystemError("inotify_add_watch")
            close(descriptor)
            throw error
        }
        Thread.detachNewThread { [self] in
            readEvents()
            close(descriptor)
        }
    }

    /// Ends the watch. Deleting the folder ends the watch, too.
    package func stop() { inotify_rm_watch(descriptor, watch) }

    package var total: Int { count.value }

    /// Waits until there were more than `total` changes, or until the limit has passed.
    package func wait(after total: Int, atMost limit: Duration) async {
        _ = await count.wait(atMost: limit) { $0 > total }
    }

    private func readEvents() {
        let size = 4096
        let events = UnsafeMutableRawBufferPointer.allocate(
            byteCount: size, alignment: MemoryLayout<inotify_event>.alignment)
        defer { events.deallocate() }
        while true {
            let length = read(descriptor, events.baseAddress, size)
            if length < 0, errno == EINTR { continue }
            guard length > 0 else { return }
            count.update { $0 += 1 }
            var position = 0
            while position < length {
                let event = events.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
                if event.mask & UInt32(IN_IGNORED) != 0 { return }
                position += MemoryLayout<inotify_event>.size + Int(event.len)
            }
        }
    }
}

extension DlmSandbox {
    package var stateFolder: String { "\(state)/dlm" }

    /// Asks again whenever something in the folder has changed, and every 200 ms, until the answer is as expected or
    /// the limit has passed. Returns the last answer.
    /// - Parameter folder: the folder to watch. Nil means the folder of the store.
    package func ask<Answer>(
        in folder: String? = nil, atMost limit: Duration = .seconds(30), _ question: () async throws -> Answer,
        until isMet: (Answer) -> Bool
    ) async throws -> Answer {
        let changes = try FolderChanges(of: folder ?? stateFolder)
        defer { changes.stop() }
        let deadline = ContinuousClock.now + limit
        while true {
            let seen = changes.total
            let answer = try await question()
            if isMet(answer) || ContinuousClock.now >= deadline { return answer }
            // A change of a process's state, or of the progress that a session reports, changes no file. So ask again
            // after this time, even if no file has changed.
            await changes.wait(after: seen, atMost: .milliseconds(200))
        }
    }
}
