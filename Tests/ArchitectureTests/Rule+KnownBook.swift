extension Rule {
    /// The functions of the session that may ask for the book without the small files that have begun since, by the
    /// reason.
    static let askersOfKnownBook: [(reason: String, functions: Set<String>)] = [
        (
            "They run for small files, whose places would cost more than their transfers, and look at the queue and slots.",
            [
                "fill", "fillOnce", "setHoldTimer", "parkArrivals", "loadMore", "loadBeyond", "readQueue", "start",
                "startReady", "makeReady", "ended",
            ]
        ),
        (
            "The download has its place, because an ordinary attempt at it has begun, or the book has just said so.",
            ["transfersEnded", "completed", "failed", "backOff", "delayEnded", "leave", "saveUnsaved"]
        ),
        ("The tick leaves out the small files whose bytes have come.", ["tick", "watchNetwork", "keepTimes"]),
        ("It enters the small files once for all downloads of a list.", ["handOver"]),
    ]

    static let knownBook = Rule(description: "The session asks for `entered` or `all` of its book") { file in
        let allowed = Set(askersOfKnownBook.flatMap(\.functions))
        return askers(in: file).filter { !allowed.contains($0.function) }.map {
            Violation(
                path: file.path, line: $0.line, message: "\($0.function): only `entered` or `all` finds all files")
        }
    }

    /// Returns each place of the session that asks for ``SharedBook/known``, with the function before it.
    static func askers(in file: SourceFile) -> [(function: String, line: Int)] {
        guard file.path.hasPrefix("Sources/DownloadEngine/Session/") else { return [] }
        var function = ""
        return file.tokens.indices.compactMap { index in
            switch text(file.tokens, index) {
            case "func": function = text(file.tokens, index + 1)
            case "init": function = "init"
            case "known" where text(file.tokens, index - 1) == ".": return (function, file.tokens[index].line)
            default: break
            }
            return nil
        }
    }
}
