/// Names that could not be resolved, which are not asked for again for a while: a list may have thousands of URLs of a host
/// that is gone. The first time it is a second, and each time twice as long, so that a name server that was away for a
/// moment does no harm. Pure.
struct FailedNames {
    private struct Failure {
        /// The name is looked up again from then on. In milliseconds.
        var until: Int64
        /// In milliseconds.
        var time: Int64
    }

    private var failures: [String: Failure] = [:]

    private static let first: Int64 = 1000
    /// Names in memory at most.
    private static let most = 10_000

    var isEmpty: Bool { failures.isEmpty }

    /// - Parameter now: in milliseconds.
    func isFailed(_ name: String, now: Int64) -> Bool { failures[name].map { now < $0.until } ?? false }

    /// - Parameter limit: the longest time for which the name is not looked up, in milliseconds.
    mutating func failed(_ name: String, now: Int64, limit: Int64) {
        if let known = failures[name], now < known.until { return }
        if failures.count >= Self.most { failures = failures.filter { now < $0.value.until } }
        if failures.count >= Self.most { failures = [:] }
        let time = min(limit, failures[name].map { $0.time * 2 } ?? Self.first)
        failures[name] = Failure(until: now + time, time: time)
    }

    mutating func resolved(_ name: String) { failures[name] = nil }
}
