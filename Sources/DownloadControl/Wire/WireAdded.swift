import DownloadCore
import Foundation

/// What became of one URL.
struct WireAdded: Codable, Sendable {
    let id: DownloadID
    /// `inserted`, `adopted` or `joined`.
    let kind: String
    let name: String
    let state: String
    /// Of one that was there already.
    let record: DownloadRecord?
    /// In a brief answer: which URL it is, counted from 0.
    var index: Int?

    init(_ added: AddedDownload, at index: Int? = nil) {
        id = added.record.id
        kind = added.kind.word
        name = added.record.displayName
        state = added.record.state.kind.rawValue
        record = added.kind == .inserted ? nil : added.record
        self.index = index
    }

    /// Rebuilt from what was asked for.
    func added(_ request: DownloadRequest, session: String, at now: Date) -> AddedDownload? {
        guard let kind = AddedDownload.Kind(word: kind) else { return nil }
        if let record { return AddedDownload(kind: kind, record: record) }
        return .inserted(id, request, session: session, at: now)
    }
}

/// What became of all of them, in order. Of a million new downloads only the numbers travel back: a brief answer leaves
/// the new ones out of `downloads`.
struct WireAddedList: Codable, Sendable {
    var version = WireCoder.version
    let downloads: [WireAdded]
    /// The ids of the new ones in order, as pairs of the first and the last of a range; only in a brief answer.
    var inserted: [[DownloadID]]?

    init(_ added: [AddedDownload], isBrief: Bool) {
        guard isBrief else {
            downloads = added.map { WireAdded($0) }
            return
        }
        var (known, ranges): ([WireAdded], [ClosedRange<DownloadID>]) = ([], [])
        for index in added.indices {
            guard added[index].kind == .inserted else {
                known.append(WireAdded(added[index], at: index))
                continue
            }
            let id = added[index].record.id
            if let last = ranges.last, last.upperBound == id - 1 {
                ranges[ranges.count - 1] = last.lowerBound...id
            } else {
                ranges.append(id...id)
            }
        }
        downloads = known
        inserted = ranges.map { [$0.lowerBound, $0.upperBound] }
    }

    /// Nil when it makes no sense.
    func added(
        _ requests: some Collection<DownloadRequest>, session: String, at now: Date
    ) -> [AddedDownload]? {
        let known = Dictionary(downloads.enumerated().map { ($1.index ?? $0, $1) }) { first, _ in first }
        guard known.count == downloads.count, let ids = ids(upTo: requests.count - known.count) else { return nil }
        var next = ids.makeIterator()
        var result: [AddedDownload] = []
        result.reserveCapacity(requests.count)
        for (index, request) in requests.enumerated() {
            let download =
                known[index].map { $0.added(request, session: session, at: now) }
                ?? next.next().map { .inserted($0, request, session: session, at: now) }
            guard let download else { return nil }
            result.append(download)
        }
        return result
    }

    /// Nil unless there are just so many.
    private func ids(upTo count: Int) -> [DownloadID]? {
        var ids: [DownloadID] = []
        for range in inserted ?? [] {
            guard range.count == 2, range[0] > 0, range[0] <= range[1], range[1] - range[0] < count - ids.count else {
                return nil
            }
            ids += range[0]...range[1]
        }
        return ids.count == count ? ids : nil
    }
}

extension AddedDownload {
    fileprivate static func inserted(
        _ id: DownloadID, _ request: DownloadRequest, session: String, at now: Date
    ) -> AddedDownload {
        AddedDownload(
            kind: .inserted, record: DownloadRecord(adding: request, id: id, to: session, at: now))
    }
}

extension AddedDownload.Kind {
    var word: String {
        switch self {
        case .inserted: "inserted"
        case .adopted: "adopted"
        case .joined: "joined"
        }
    }

    init?(word: String) {
        switch word {
        case "inserted": self = .inserted
        case "adopted": self = .adopted
        case "joined": self = .joined
        default: return nil
        }
    }
}
