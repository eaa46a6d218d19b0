import CSystem
import Foundation

/// A process that is not a child of the test, told from a later one with the same number.
package final class ForeignProcess: Sendable {
    package let pid: pid_t
    private let descriptor: Int32

    /// Nil when there is none.
    package init?(_ pid: pid_t) {
        self.pid = pid
        descriptor = dlm_pidfd_open(pid)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    package func send(_ signal: Int32) { if !hasEnded { kill(pid, signal) } }

    package var hasEnded: Bool { hasEnded(within: .zero) }

    /// Blocks the thread so long; a process descriptor is readable once its process has ended (pidfd_open(2)).
    package func hasEnded(within limit: Duration) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, Int32(limit / .milliseconds(1))) > 0
    }

    /// False when it has not ended within the limit.
    package func waitForEnd(atMost limit: Duration = .seconds(45)) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(returning: hasEnded(within: limit)) }
        }
    }

    /// A file of its folder in /proc.
    package func file(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/\(name)")), as: UTF8.self)
    }

    package func link(_ name: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/\(name)")
    }

    /// All whose environment names a path in this folder, those that were orphaned included.
    package static func all(of folder: TemporaryFolder) -> [ForeignProcess] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.compactMap(ForeignProcess.init).filter { process in
            process.pid != getpid() && (try? process.file("environ"))?.contains("=\(folder.path)/") == true
        }
    }
}
