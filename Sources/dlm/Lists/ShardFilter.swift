import DownloadKit

/// The filter for the URLs of a list that belong to a shard.
struct ShardFilter: Sendable {
    let shard: Shard
    let rule: ShardRule
    private var shares: HostShares
    /// The last host and its shard. They are kept because lists often have many URLs of one host in a row.
    private var last: (host: String, number: Int)?

    init(_ shard: Shard, by rule: ShardRule) {
        self.shard = shard
        self.rule = rule
        shares = HostShares(shards: shard.count)
    }

    /// Returns whether a URL belongs to the shard.
    /// - Parameters:
    ///   - text: The URL as it is written. A text that is no URL is used as the name of a host, so that exactly one
    ///     shard reports the error.
    ///   - position: The position of the URL in the list, from 0.
    mutating func takes(_ text: String, at position: Int) throws(DownloadError) -> Bool {
        if rule == .line { return position % shard.count == shard.index }
        let url = try? RequestMaker.address(text).get().0
        if rule == .url {
            return try Shard.number(of: url?.string ?? text, count: shard.count) == shard.index
        }
        let host = url?.host ?? text
        if url != nil { shares.count(host) }
        if let last, last.host == host { return last.number == shard.index }
        let number = try Shard.number(of: host, count: shard.count)
        last = (host, number)
        return number == shard.index
    }

    /// The number of URLs that a list must have before ``notice`` is given.
    private static let fewest = 100

    /// A line about the largest host of this shard, if this host alone has more URLs than a shard should have;
    /// otherwise nil.
    var notice: String? {
        guard rule == .host, shard.count > 1, shares.total >= Self.fewest else { return nil }
        let own = { (host: String) in (try? Shard.number(of: host, count: shard.count)) == shard.index }
        guard let heavy = shares.heaviest(of: shard.count, where: own) else { return nil }
        return """
            shard \(shard): \(heavy.host) has at least \(heavy.urls) of the \(shares.total) URLs, more than one of \
            \(shard.count) equal shards would have; --shard-by url or line divides the URLs of a host, too
            """
    }
}

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
