import DownloadKit

/// Something that was asked for and never became a download, such as a bad line of a list.
struct RejectedDocument: Document, Equatable {
    var version = 1
    var event = "rejected"
    /// The list; nil for what is in none.
    let file: String?
    /// In the list.
    let line: Int?
    /// As it was written, without a user and a password; nil where the line has none.
    let url: String?
    let message: String
    let exitStatus: Int32

    init(_ error: DownloadError, line: Int? = nil, of file: String? = nil, url: String? = nil) {
        self.init(Redaction.describe(error), line: line, of: file, url: url, exitStatus: error.exitStatus)
    }

    init(_ message: String, line: Int?, of file: String? = nil, url: String? = nil, exitStatus: Int32 = 2) {
        self.file = file
        self.url = url
        self.line = line
        self.message = message
        self.exitStatus = exitStatus
    }

    var text: String {
        guard let file, let line else { return message }
        return "\(file):\(line): \(message)"
    }
}
