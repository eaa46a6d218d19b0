import DownloadKit

/// A request that did not become a download, such as a bad line of a list.
struct RejectedDocument: Document, Equatable {
    var version = 1
    var event = "rejected"
    let file: String?
    let line: Int?
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

    func tell(_ console: Console, _ options: OutputOptions) {
        console.report(text)
        if options.json { console.print(json) }
    }
}
