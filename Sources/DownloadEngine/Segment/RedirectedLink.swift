import DownloadCore
import Foundation

/// The URL that a source redirects to. Such a URL may be valid for a few seconds only. When the URL has expired, one
/// connection asks the source again, and the requests of the other connections wait until that connection has an answer.
struct RedirectedLink {
    /// The time at which the first bytes came from the URL; nil before.
    private var proved: Date?
    /// How often the URL was renewed.
    private var number = 0
    /// The number of the URL that each connection has asked.
    private var asked: [Int: Int] = [:]
    /// The connection that asks the source for a new URL.
    private(set) var renewing: Int?

    var isProved: Bool { proved != nil }

    /// Whether the connection asked a URL that has been renewed since.
    func isOutdated(for connection: Int) -> Bool { asked[connection, default: number] < number }

    /// Records that bytes came to the connection.
    mutating func prove(by connection: Int, at now: Date) {
        if proved == nil, !isOutdated(for: connection) { proved = now }
    }

    /// Begins a renewal. Returns false if the URL has been renewed since the connection asked it.
    mutating func renew(by connection: Int) -> Bool {
        guard !isOutdated(for: connection) else { return false }
        number += 1
        (proved, renewing) = (nil, connection)
        return true
    }

    /// Begins to follow a redirect of the URL. Returns false if the redirect was answered to a request for an older URL,
    /// or if another connection asks for a new one. Otherwise the redirects of several connections would count as one
    /// chain.
    mutating func follow(by connection: Int) -> Bool {
        renewing == connection || renewing == nil && renew(by: connection)
    }

    mutating func endRenewal(by connection: Int) { if renewing == connection { renewing = nil } }

    /// Records that the connection asks the URL. Returns false, and records nothing, if the connection must wait for a
    /// renewal.
    mutating func ask(by connection: Int) -> Bool {
        guard renewing == nil || renewing == connection else { return false }
        asked[connection] = number
        return true
    }

    /// Returns whether a proved URL says that it expires soon: within a quarter of its lifetime, or within
    /// ``LinkExpiry/margin``. A URL that had expired when it came says nothing, because the clocks differ.
    func isDue(_ url: SourceURL, at now: Date) -> Bool {
        guard let proved, renewing == nil, let end = LinkExpiry.date(of: url), end > proved else { return false }
        return now >= end - min(LinkExpiry.margin, end.timeIntervalSince(proved) / 4)
    }
}
