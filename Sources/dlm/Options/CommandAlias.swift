import Glibc

/// The words of other tools that users may type instead of a command of dlm.
enum CommandAlias {
    /// The commands that dlm runs for words with the same meaning.
    static let same: [String: [String]] = [
        "add": ["get", "-b"], "continue": ["resume"], "delete": ["remove"], "download": ["get"],
        "history": ["list", "--all"], "info": ["show"], "ps": ["list"], "retry": ["resume"], "start": ["resume"],
        "stop": ["pause"], "unpause": ["resume"], "version": ["--version"],
    ]

    /// The hints for words for which dlm has no single command of the same meaning.
    static let similar: [String: String] = [
        "fetch": "to download a URL run: dlm get URL",
        "kill": "dlm cancel 3 ends a download, and dlm daemon stop the background session",
        "log": logs, "logs": logs,
        "queue": "dlm list shows the queue, and dlm get -b URL adds to it",
        "restart": "dlm resume 3 continues a download, and dlm daemon start starts the background session",
        "status": "dlm list shows the downloads, dlm daemon status the background session",
        "tail": logs,
    ]

    private static let logs = "dlm events follows every change, and dlm show 3 tells everything about one download"

    /// Returns the command line with a command of dlm at its beginning, if the first word has a known meaning.
    /// - Parameter exists: Returns whether a path exists. The path of an existing file is not read as a URL.
    static func resolved(
        _ arguments: [String], exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> [String] {
        guard let first = arguments.first else { return arguments }
        if first == "help" {
            // `dlm help COMMAND` takes no options.
            let path = resolved(Array(arguments.dropFirst()), exists: { _ in true })
            return [first] + (path.count > 1 ? path.filter { !$0.hasPrefix("-") } : path)
        }
        if let command = same[first] { return command + arguments.dropFirst() }
        return isDownload(arguments, exists) ? ["get"] + arguments : arguments
    }

    /// Returns whether a URL, or options of `get` before a URL, are in the place of a command.
    private static func isDownload(_ arguments: [String], _ exists: (String) -> Bool) -> Bool {
        guard let first = arguments.first, !first.hasPrefix("---") else { return false }
        if !first.hasPrefix("-") { return SchemelessAddress.isClearlyURL(first) && !exists(first) }
        for word in arguments where !word.hasPrefix("-") {
            if word.contains("://") || SchemelessAddress.isClearlyURL(word) && !exists(word) { return true }
            if DLM.commandNames.contains(word) || same[word] != nil { return false }
        }
        return false
    }
}
