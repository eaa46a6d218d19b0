import DownloadKit

/// The filter for the URLs of a list that belong to a shard.
struct ShardFilter: Sendable {
    let shard: Shard
    let rule: ShardRule
    private var shares: HostShares
    /// The last host and its shard, because lists often have many URLs of one host in a row.
    private var last: (host: String, number: Int)?

    init(_ shard: Shard, by rule: ShardRule) {
        self.shard = shard
        self.rule = rule
        shares = HostShares(shards: shard.count)
    }

    /// - Parameters:
    ///   - text: the URL as it is written. A text that is no URL counts as its own host, so that exactly one shard
    ///     reports it.
    ///   - position: the position of the URL in its list, from 0.
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

    /// The number of URLs in a list from which the notice is possible.
    private static let fewest = 100

    /// A line about the largest host of this shard, if it alone has more URLs than a shard should have.
    var notice: String? {
        guard rule == .host, shard.count > 1, shares.total >= Self.fewest else { return nil }
        let own = { (host: String) in (try? Shard.number(of: host, count: shard.count)) == shard.index }
        guard let heavy = shares.heaviest(of: shard.count, where: own) else { return nil }
        return """
            shard \(shard): \(heavy.host) has at least \(heavy.urls) of the \(shares.total) URLs, more than one of \
            \(shard.count) equal shards; --shard-by url or line divides a host, too
            """
    }
}
