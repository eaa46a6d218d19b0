/// Finds the hosts that have more than their share of a list, however many hosts there are (Misra and Gries, "Finding
/// repeated elements", 1982). Pure.
struct HostShares: Sendable {
    /// A host with more URLs than its share.
    struct Heavy: Equatable {
        let host: String
        /// At least so many of the URLs.
        let urls: Int
    }

    /// A host with more than 1/(counters + 1) of all URLs is among the counted ones at the end.
    private let counters: Int
    /// For each counted host at least this many URLs were seen.
    private var counts: [String: Int] = [:]
    private(set) var total = 0

    /// - Parameter shards: a share is a list divided by this number.
    init(shards: Int) { counters = min(4096, max(64, 4 * shards)) }

    mutating func count(_ host: String) {
        total += 1
        if let known = counts[host] {
            counts[host] = known + 1
        } else if counts.count < counters {
            counts[host] = 1
        } else {
            counts = counts.compactMapValues { $0 > 1 ? $0 - 1 : nil }
        }
    }

    /// Returns the host with the most URLs if these are more than one of `shards` equal parts.
    func heaviest(of shards: Int, where isOwn: (String) -> Bool) -> Heavy? {
        counts.filter { $0.value * shards > total && isOwn($0.key) }
            .max { ($0.value, $1.key) < ($1.value, $0.key) }.map { Heavy(host: $0.key, urls: $0.value) }
    }
}
