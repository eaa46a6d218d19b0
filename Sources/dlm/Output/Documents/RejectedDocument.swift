import DownloadKit

/// Something that was asked for and never became a download, such as a bad line of a list.
struct RejectedDocument: Document, Equatable {
    var version = 1
    var event = "rejected"
    /// In the list.
    let line: Int?
    let message: String
    let exitStatus: Int32

    init(_ error: DownloadError, line: Int? = nil) {
        self.init(Redaction.describe(error), line: line, exitStatus: error.exitStatus)
    }

    init(_ message: String, line: Int?, exitStatus: Int32 = 2) {
        self.line = line
        self.message = message
        self.exitStatus = exitStatus
    }

    var text: String { line.map { "line \($0): \(message)" } ?? message }
}
