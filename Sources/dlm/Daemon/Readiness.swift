import DownloadKit
import Foundation

/// The only report that a background session sends to the process that started it, through a pipe: the word `ready`, or
/// the error because of which the session does not start, as JSON.
struct ReadinessReport {
    private let descriptor: Int32

    /// - Returns: nil if `descriptor` is not a pipe, because then no process waits for the report.
    init?(descriptor: Int32) {
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFIFO else { return nil }
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Sends the report, or the reason why the session does not start, and closes the pipe. It can be called only once.
    /// Errors are ignored, because the process that started the session may have ended.
    func send(_ failure: DownloadError? = nil) {
        let report = failure.map { (try? JSONEncoder().encode($0)) ?? Data() } ?? ReadinessPipe.ready
        _ = report.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}

/// The pipe for the report, in the process that starts the background session.
struct ReadinessPipe {
    static let pace = Duration.milliseconds(5)
    fileprivate static let ready = Data("ready".utf8)

    let reader: Int32
    let writer: Int32

    init() throws(DownloadError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .startFailed("pipe", errno) }
        (reader, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(reader, F_SETFL, O_NONBLOCK)
    }

    /// Waits until the session has sent its report, or the pipe has ended without a report.
    /// - Returns: Whether the session serves; false if there was no report. Nil if the deadline passed first.
    /// - Throws: The error that the session reported.
    func isReady(until deadline: ContinuousClock.Instant, _ time: any TimeSource = SystemTime()) async throws -> Bool? {
        var report = Data()
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(reader, &piece, piece.count)
            if count > 0 {
                report += piece[..<count]
            } else if count == 0 {
                if let error = try? JSONDecoder().decode(DownloadError.self, from: report) { throw error }
                return report == Self.ready
            } else if errno != EINTR {
                guard time.now < deadline else { return nil }
                try await time.sleep(for: Self.pace)
            }
        }
    }
}
