extension Rule {
    /// The file that gives all other files their clock.
    static let timeSource = "Sources/DownloadSystem/Time/SystemTime.swift"

    /// The other files that may name a clock, each with the clocks that it may name.
    ///
    /// `CurlLoop` reads the time at each turn of its loop. `KernelNetwork` compares two clocks to learn how long the
    /// machine has slept. SwiftNIO's event loop has its own clock. The argument parser creates values itself and gives
    /// them no clock.
    static let placesWithClocks: [String: Set<String>] = [
        "Sources/CurlTransport/CurlLoop.swift": ["clock_gettime"],
        "Sources/DownloadSystem/Network/KernelNetwork.swift": ["clock_gettime"],
        "Sources/DownloadControl/Server/ConnectionTable.swift": ["now"],
        "Sources/DownloadControl/Server/ConnectionHandler.swift": ["now"],
        "Sources/dlm/Options/TimeArguments.swift": ["SystemTime"],
    ]

    static let clocks = Rule(description: "Sources read the time, and wait, only with the given TimeSource") {
        file in
        guard file.isSource, file.isSwift, file.path != timeSource else { return [] }
        let allowed = placesWithClocks[file.path] ?? []
        return matches(in: file) { tokens, index in
            guard namesClock(tokens, index), !allowed.contains(text(tokens, index)) else { return nil }
            return "\(text(tokens, index)): use the TimeSource"
        }
    }

    /// Words that only name a clock or a pause.
    private static let clockWords: Set = [
        "usleep", "nanosleep", "clock_nanosleep", "clock_gettime", "gettimeofday", "asyncAfter", "makeTimerSource",
        "DispatchTime", "DispatchWallTime", "SuspendingClock", "timeIntervalSinceNow", "systemUptime",
    ]

    private static func namesClock(_ tokens: [Token], _ index: Int) -> Bool {
        let (word, next) = (text(tokens, index), text(tokens, index + 1))
        let (before, receiver) = (text(tokens, index - 1), text(tokens, index - 2))
        switch word {
        // `Date.now`, or `.now` alone, is a clock; `time.now` belongs to a value and is not a clock.
        case "now": return before == "." && (isType(receiver) || isImplicit(tokens, index - 1))
        case "sleep":
            let isCall = next == "(" && before != "func"
            return isCall && (before != "." || isType(receiver) || receiver == ">")
        case "Date": return next == "(" && [")", "timeIntervalSinceNow"].contains(text(tokens, index + 2))
        case "poll": return next == "(" && text(tokens, index + 2) == "nil"
        // `SystemTime()` may be the default of a parameter or property. A call of its methods uses a clock that nobody
        // passed in.
        case "SystemTime":
            return next == "(" && text(tokens, index + 2) == ")" && text(tokens, index + 3) == "."
        default: return clockWords.contains(word)
        }
    }

    private static func isType(_ word: String) -> Bool { word.first?.isUppercase ?? false }

    /// Returns whether no receiver stands before this dot.
    private static func isImplicit(_ tokens: [Token], _ index: Int) -> Bool {
        guard index > 0 else { return true }
        let before = tokens[index - 1]
        return before.end != tokens[index].start || ["(", "[", "{", ",", ":"].contains(before.text)
    }
}
