import DownloadKit

/// A request that did not become a download, such as a bad line of a list.
struct RejectedDocument: Document, Equatable {
    var version = 1
    var event = "rejected"
    var file: String?
    var line: Int?
    var url: String?
    let message: String
    var exitStatus: Int32 = 2

    var text: String {
        guard let file, let line else { return message }
        return "\(file):\(line): \(message)"
    }

    func tell(_ console: Console, _ options: OutputOptions) {
        console.report(text)
        if options.json { console.print(json) }
    }
}

extension RejectedDocument {
    init(_ error: DownloadError, line: Int? = nil, of file: String? = nil, url: String? = nil) {
        self.init(
            file: file, line: line, url: url, message: Redaction.describe(error), exitStatus: error.exitStatus)
    }
}
