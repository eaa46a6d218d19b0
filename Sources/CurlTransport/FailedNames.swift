/// The names that could not be resolved, which are not looked up again for a while. A list may have thousands of URLs
/// of a host that no longer exists. The pause until the next lookup is one second after the first failure, and twice as
/// long after each further failure. So a short outage of a name server does no harm.
struct FailedNames {
    private struct Failure {
        /// The time from which the name is looked up again, in milliseconds.
        var until: Int64
        /// The length of the pause, in milliseconds.
        var time: Int64
    }

    private var failures: [String: Failure] = [:]

    private static let first: Int64 = 1000
    /// The most names that are remembered.
    private static let most = 10_000

    var isEmpty: Bool { failures.isEmpty }

    /// Returns whether the name must not be looked up yet.
    /// - Parameter now: The time, in milliseconds.
    func isFailed(_ name: String, now: Int64) -> Bool { failures[name].map { now < $0.until } ?? false }

    /// Records a failed lookup.
    /// - Parameter limit: The longest pause, in milliseconds.
    mutating func failed(_ name: String, now: Int64, limit: Int64) {
        if let known = failures[name], now < known.until { return }
        if failures.count >= Self.most { failures = failures.filter { now < $0.value.until } }
        if failures.count >= Self.most { failures = [:] }
        let time = min(limit, failures[name].map { $0.time * 2 } ?? Self.first)
        failures[name] = Failure(until: now + time, time: time)
    }

    mutating func resolved(_ name: String) { failures[name] = nil }
}
