import CSystem
import Foundation

/// A process that is not a child of the test. A later process with the same id is not mistaken for it.
package final class ForeignProcess: Sendable {
    package let pid: pid_t
    private let descriptor: Int32

    /// Returns nil if there is no such process.
    package init?(_ pid: pid_t) {
        self.pid = pid
        descriptor = dlm_pidfd_open(pid)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    package func send(_ signal: Int32) { if !hasEnded { kill(pid, signal) } }

    package var hasEnded: Bool { hasEnded(within: .zero) }

    /// Waits, blocking the thread, and returns whether the process has ended within the limit. A process descriptor
    /// becomes readable when its process has ended (pidfd_open(2)).
    package func hasEnded(within limit: Duration) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, Int32(limit / .milliseconds(1))) > 0
    }

    /// Waits for the end of the process. Returns false if it has not ended within the limit.
    package func waitForEnd(atMost limit: Duration = .seconds(45)) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(returning: hasEnded(within: limit)) }
        }
    }

    /// Returns the contents of a file in the process's folder in /proc.
    package func file(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/\(name)")), as: UTF8.self)
    }

    package func link(_ name: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/\(name)")
    }

    package func hasOpen(_ path: String) -> Bool {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []
        return descriptors.contains { (try? link("fd/\($0)")) == path }
    }

    /// Returns all processes whose environment has a path in this folder, including orphans.
    package static func all(of folder: TemporaryFolder) -> [ForeignProcess] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let mark = "=\(folder.path)/"
        // Every test checks all processes here, so only the few matching ones get a descriptor, which proves that the
        // id still belongs to the same process.
        return names.compactMap { pid_t($0) }.filter { $0 != getpid() && environment(of: $0, contains: mark) }
            .compactMap(ForeignProcess.init).filter { environment(of: $0.pid, contains: mark) }
    }

    private static func environment(of pid: pid_t, contains mark: String) -> Bool {
        let descriptor = open("/proc/\(pid)/environ", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 17) { buffer in
            guard let start = buffer.baseAddress else { return false }
            var length = 0
            while length < buffer.count - 1 {
                let count = read(descriptor, start + length, buffer.count - 1 - length)
                guard count > 0 else { break }
                length += count
            }
            buffer[length] = 0
            // Each variable ends with a zero byte.
            var variable = start
            while variable < start + length {
                if strstr(variable, mark) != nil { return true }
                variable += strlen(variable) + 1
            }
            return false
        }
    }
}
