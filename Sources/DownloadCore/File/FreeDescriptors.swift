import Foundation

/// Whether this process may open more files. Libraries that make an event queue end the process where it may not.
public enum FreeDescriptors {
    /// Takes so many for a moment: a limit does not say how many are in use.
    public static func has(_ count: Int) -> Bool {
        var taken: [Int32] = []
        defer { for descriptor in taken { close(descriptor) } }
        while taken.count < count {
            let descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return false }
            taken.append(descriptor)
        }
        return true
    }
}
