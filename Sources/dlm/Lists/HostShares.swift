/// The search for hosts that have more URLs of a list than one shard should have. It needs only limited memory for any
/// number of hosts (Misra and Gries, "Finding repeated elements", 1982).
struct HostShares: Sendable {
    /// The greatest number of hosts in ``counts``. At the end, ``counts`` has every host with more than 1/(counters +
    /// 1) of all URLs.
    private let counters: Int
    /// A lower bound for the number of URLs of each counted host.
    private var counts: [String: Int] = [:]
    private(set) var total = 0

    /// - Parameter shards: The number of shards of the list.
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

    /// Returns the host of this shard that has the most URLs, with a lower bound for their number. Returns nil if no
    /// host of this shard has more URLs than one of `shards` equal shards would have.
    /// - Parameter isOwn: Returns whether a host belongs to this shard.
    func heaviest(of shards: Int, where isOwn: (String) -> Bool) -> (host: String, urls: Int)? {
        counts.filter { $0.value * shards > total && isOwn($0.key) }
            .max { ($0.value, $1.key) < ($1.value, $0.key) }.map { ($0.key, $0.value) }
    }
}
