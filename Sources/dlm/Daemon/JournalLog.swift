import Foundation
import Glibc

/// The journal of systemd. If systemd started the daemon, its lines go there with fields. The native protocol
/// (systemd.journal-fields(7)) is implemented here, without libsystemd.
struct JournalLog: Sendable {
    /// The kinds of lines that have a number of their own (`journalctl MESSAGE_ID=`).
    enum MessageID: String, CaseIterable, Sendable {
        case completed = "5f1b0c9d3a7e4f62a1c8d0b7e94f2a61"
        case failed = "c07d6a2f94be4d1fb3e5172a8d60c9f4"
        case restarted = "91e4f7b25c0a4c3d8f6b2e1da73c5008"
    }

    enum Priority: Int, Sendable {
        case error = 3
        case notice = 5
        case info = 6
    }

    static let variable = "JOURNAL_STREAM"
    static let usualAddress = "/run/systemd/journal/socket"

    private let address: String

    /// Returns nil unless standard error is connected to the journal. JOURNAL_STREAM has the device and the inode of
    /// that connection (systemd.exec(5)).
    init?(
        environment: [String: String], errors: Int32 = STDERR_FILENO, address: String = JournalLog.usualAddress
    ) {
        var status = stat()
        guard let stream = environment[Self.variable], fstat(errors, &status) == 0,
            stream == "\(status.st_dev):\(status.st_ino)"
        else { return nil }
        self.address = address
    }

    /// Sends one line with fields, whose names have capital letters, digits and underscores. Returns whether the
    /// journal has taken the line.
    func send(_ message: String, _ priority: Priority, _ id: MessageID? = nil, fields: [(String, String)] = []) -> Bool
    {
        var lines = [("MESSAGE", message), ("PRIORITY", "\(priority.rawValue)"), ("SYSLOG_IDENTIFIER", "dlm")]
        if let id { lines.append(("MESSAGE_ID", id.rawValue)) }
        lines += fields
        return ServiceNotifier.send(lines.map { "\($0)=\(Escaping.line($1))\n" }.joined(), to: address)
    }
}
