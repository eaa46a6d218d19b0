/// The search for hosts with more URLs than their share of a list. Its memory is limited, however many hosts there are
/// (Misra and Gries, "Finding repeated elements", 1982).
struct HostShares: Sendable {
    /// A host with more URLs than its share.
    struct Heavy: Equatable {
        let host: String
        /// A lower bound for the number of URLs of the host.
        let urls: Int
    }

    /// The greatest number of counted hosts. A host with more than 1/(counters + 1) of all URLs is counted at the end.
    private let counters: Int
    /// A lower bound for the number of URLs of each counted host.
    private var counts: [String: Int] = [:]
    private(set) var total = 0

    /// - Parameter shards: the number of parts of the list. One part is the share of a host.
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
