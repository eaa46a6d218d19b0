import DownloadCore
import Foundation

/// The URL that a source redirects to. Such a URL may be valid for a few seconds only. When it has expired, one
/// connection asks the source again, and the requests of the other connections wait until that connection has an answer.
struct RedirectedLink {
    /// Whether bytes have come from the URL.
    var isProved = false
    /// How often the URL was renewed.
    private var number = 0
    /// The number of the URL that each connection has asked.
    private var asked: [Int: Int] = [:]
    /// The connection that asks the source for a new URL.
    private(set) var renewing: Int?
    /// The time of the last renewal; nil before the first one.
    private var renewed: Date?
    private var begun: Date?

    /// Whether the connection asked a URL that has been renewed since.
    func isOutdated(for connection: Int) -> Bool { asked[connection, default: number] < number }

    mutating func prove(by connection: Int) { if !isOutdated(for: connection) { isProved = true } }

    /// Begins a renewal. Returns false if the URL has been renewed since the connection asked it.
    mutating func renew(by connection: Int, at now: Date) -> Bool {
        guard !isOutdated(for: connection) else { return false }
        number += 1
        (isProved, renewing, renewed) = (false, connection, now)
        return true
    }

    mutating func endRenewal(by connection: Int) { if renewing == connection { renewing = nil } }

    /// Records that the connection is about to ask the URL. Returns false if it must wait for a renewal.
    @discardableResult
    mutating func isAsked(by connection: Int) -> Bool {
        guard renewing == nil || renewing == connection else { return false }
        asked[connection] = number
        return true
    }

    /// Returns whether a proved URL says that it expires soon: within a quarter of its lifetime, or within
    /// ``LinkExpiry/margin``. A URL that had expired when it came says nothing, because the clocks differ.
    mutating func isDue(_ url: SourceURL, at now: Date) -> Bool {
        let begun = renewed ?? self.begun ?? now
        self.begun = begun
        guard isProved, renewing == nil, let end = LinkExpiry.date(of: url), end > begun else { return false }
        return now >= end - min(LinkExpiry.margin, end.timeIntervalSince(begun) / 4)
    }
}
