import DownloadCore
import Foundation

/// The result of adding one URL.
struct WireAdded: Codable, Sendable {
    let id: DownloadID
    let kind: AddedDownload.Kind
    let name: String
    let state: String
    /// The record of a download that existed already; nil for a new download.
    let record: DownloadRecord?
    /// The position of the URL, counted from 0; only in a brief response.
    var index: Int?

    init(_ added: AddedDownload, at index: Int? = nil) {
        id = added.record.id
        kind = added.kind
        name = added.record.displayName
        state = added.record.state.kind.rawValue
        record = added.kind == .inserted ? nil : added.record
        self.index = index
    }

    func added(_ request: DownloadRequest, session: String, at now: Date) -> AddedDownload {
        if let record { return AddedDownload(kind: kind, record: record) }
        return AddedDownload(kind: kind, record: DownloadRecord(adding: request, id: id, to: session, at: now))
    }
}

/// The results of adding several URLs, in order. A brief response leaves the new downloads out of `downloads`. So for
/// a million new downloads only their ids are sent back.
struct WireAddedList: Codable, Sendable {
    var version = WireCoder.version
    let downloads: [WireAdded]
    /// The ids of the new downloads in order, as pairs of the first and the last id of a range; only in a brief
    /// response.
    var inserted: [[DownloadID]]?

    init(_ added: [AddedDownload], isBrief: Bool) {
        guard isBrief else {
            downloads = added.map { WireAdded($0) }
            return
        }
        downloads = added.indices.filter { added[$0].kind != .inserted }.map { WireAdded(added[$0], at: $0) }
        let new = added.indices.lazy.filter { added[$0].kind == .inserted }.map { added[$0].id }
        inserted = new.ranges.map { [$0.lowerBound, $0.upperBound] }
    }

    /// Rebuilds the added downloads from their requests. Returns nil if the results do not fit the requests.
    func added(_ requests: RequestList, session: String, at now: Date) -> [AddedDownload]? {
        let known = Dictionary(downloads.enumerated().map { ($1.index ?? $0, $1) }) { first, _ in first }
        guard known.count == downloads.count, let ids = ids(upTo: requests.count - known.count) else { return nil }
        var next = ids.makeIterator()
        var result: [AddedDownload] = []
        result.reserveCapacity(requests.count)
        for run in requests.runs {
            var like: DownloadEntry?
            for url in run.urls {
                if let known = known[result.count] {
                    result.append(known.added(run.request(for: url), session: session, at: now))
                } else {
                    guard let id = next.next() else { return nil }
                    let entry = run.entry(adding: url, like: like, id: id, to: session, at: now)
                    if like?.origin != entry.origin { like = entry }
                    result.append(AddedDownload(kind: .inserted, entry: entry))
                }
            }
        }
        return result
    }

    /// Returns the ids of the new downloads; nil unless there are exactly `count` of them.
    private func ids(upTo count: Int) -> [DownloadID]? {
        var ids: [DownloadID] = []
        for range in inserted ?? [] {
            guard range.count == 2, range[0] > 0, range[0] <= range[1],
                range[0].distance(to: range[1]) < count - ids.count
            else {
                return nil
            }
            ids += range[0]...range[1]
        }
        return ids.count == count ? ids : nil
    }
}
