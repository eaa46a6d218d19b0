/// The twenty largest types of Sources, and what holds each of them together. No type is too large by its lines alone. It
/// is too large if no such sentence can be said of it.
enum LargeTypes {
    static let reasons: [String: String] = [
        "DownloadEngine.SessionManager":
            "The one actor of a session: performs what the book decides, in the order that callers see.",
        "DownloadEngine.SessionBook":
            "All decisions about the downloads of a session. They share its places and slots, and are pure.",
        "DownloadEngine.SegmentPlanner":
            "Who fetches which bytes. Each of its rules reads and changes the same ranges.",
        "DownloadKit.DownloadSession":
            "The front door of the library, with the documentation of each call.",
        "DownloadEngine.Attempt":
            "What all phases of an attempt share: its record, its messages, its checkpoints.",
        "DownloadEngine.PartialFile":
            "The descriptor, the lock and the written ranges of one file, which must agree.",
        "DownloadRPC.Aria2Session":
            "aria2's state of one client-visible session: ids, positions, notifications.",
        "dlm.Follower":
            "What becomes of the downloads of a command, from whichever process runs them.",
        "dlm.WatchModel":
            "The interactive list as one value: keys and events in, lines and actions out.",
        "DownloadCore.DownloadRecord":
            "What is known of a download, and each change of it.",
        "DownloadEngine.Fetch":
            "The phase that fetches with several connections: beginnings and ends of its transfers.",
        "CurlTransport.CurlLoop":
            "The thread that makes every call of libcurl's multi interface.",
        "CurlTransport.EasyHandle":
            "Every setting and callback of one libcurl handle.",
        "DownloadEngine.SegmentWriter":
            "The sink of one transfer, from the head to the last buffer, under one lock.",
        "DownloadCore.DownloadRequest":
            "Each property is an option that a user sets.",
        "dlm.DropInOption":
            "The tables of the options of aria2c, wget and curl, which are data.",
        "DownloadControl.ControlClient":
            "One function for each request of the control API.",
        "DownloadEngine.AttemptTask":
            "The order of an attempt, from top to bottom.",
        "DownloadStoragePostgres.QueueSchema":
            "The SQL of the shared queue, which is data.",
        "DownloadStorage.SQLiteDownloadStore":
            "One function for each duty of `DownloadStore`.",
    ]

    /// Returns the types with the most lines, and their lines in all files of their module.
    static func largest(_ count: Int, of files: [SourceFile]) -> [String: Int] {
        var lines: [String: Int] = [:]
        for file in files where file.isSource && file.isSwift {
            var end = 0
            for type in DeclaredTypes.of(file) where type.line > end {
                end = type.line + type.length - 1
                lines["\(file.module).\(type.name.prefix { $0 != "." })", default: 0] += type.length
            }
        }
        let order = lines.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return Dictionary(uniqueKeysWithValues: order.prefix(count).map { ($0.key, $0.value) })
    }
}
