import CSystem
import DownloadKit
import Foundation

/// The only report that a background session sends to the process that started it. It is one line on a pipe.
enum Readiness: Equatable {
    /// The session serves.
    case ready(pid: Int32)
    /// Another session was faster, and this one ends.
    case running
    case failed(DownloadError)

    init?(line: String) {
        let words = line.split(separator: " ", maxSplits: 1)
        let rest = words.count > 1 ? String(words[1]) : ""
        switch words.first {
        case "ready":
            guard let pid = Int32(rest) else { return nil }
            self = .ready(pid: pid)
        case "running": self = .running
        case "failed":
            guard let error = try? JSONDecoder().decode(DownloadError.self, from: Data(rest.utf8)) else { return nil }
            self = .failed(error)
        default: return nil
        }
    }

    var line: String {
        switch self {
        case .ready(let pid): return "ready \(pid)"
        case .running: return "running"
        case .failed(let error):
            guard let json = try? JSONEncoder().encode(error) else { return "failed" }
            return "failed " + String(decoding: json, as: UTF8.self)
        }
    }
}

/// The background session's end of the pipe.
struct ReadinessReport {
    private let descriptor: Int32

    /// - Returns: nil if `descriptor` is not a pipe, because then no process waits for the report.
    init?(descriptor: Int32) {
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFIFO else { return nil }
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Sends the report and closes the pipe, so it can be called only once. Errors are ignored, because the process
    /// that started the session may have ended.
    func tell(_ readiness: Readiness) {
        let line = readiness.line + "\n"
        _ = write(descriptor, line, line.utf8.count)
        close(descriptor)
    }
}

/// The pipe for the report, in the process that starts the background session.
struct ReadinessPipe {
    let reader: Int32
    let writer: Int32

    init() throws(DownloadError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .daemon("pipe", errno) }
        (reader, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// Waits for the line or the end of the pipe, on a thread of its own, and closes the reading end.
    /// - Returns: the line, or nil if none came. `inTime` is false if the limit passed before a line or the end came.
    func line(
        within limit: Duration, _ time: any TimeSource = SystemTime()
    ) async -> (line: String?, inTime: Bool) {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: read(until: time.now + limit, time))
                close(reader)
            }
        }
    }

    private func read(
        until deadline: ContinuousClock.Instant, _ time: any TimeSource
    ) -> (line: String?, inTime: Bool) {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let left = (deadline - time.now) / .milliseconds(1)
            guard left > 0 else { return (nil, false) }
            var watched = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, Int32(left.rounded(.up))) > 0 else { continue }
            let count = Glibc.read(reader, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (nil, true) }
            text += piece[..<count]
            if let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                return (String(decoding: text[..<end], as: UTF8.self), true)
            }
        }
    }
}

extension DownloadError {
    /// Returns the error for a failed system call that the start of a background session needs.
    static func daemon(_ operation: String, _ code: Int32) -> DownloadError {
        .sessionUnavailable(.startFailed(message: "\(operation): \(String(cString: strerror(code)))"))
    }
}
