import Foundation

/// A download, as a store returns it when it was added or is queued. The downloads of a list share one record, because
/// they differ only in their ids and URLs. Most of them never need a record of their own.
package struct DownloadEntry: Sendable, Equatable {
    package let id: DownloadID
    package let url: SourceURL
    /// The origin of the source that is used first. Neighbouring entries share the text.
    package let origin: String
    /// The record of this download, except for the id and the URL.
    package let common: DownloadRecord

    package init(_ record: DownloadRecord) {
        (id, url, origin) = (record.id, record.request.url, record.source.origin)
        common = record
    }

    /// Whether downloads of the same list may be made like this one. With mirrors, the first source need not be the URL.
    package var isSourceItsURL: Bool { common.request.mirrors.isEmpty }

    /// Makes the entry of another download of the same list. ``isSourceItsURL`` must be true of the other entry.
    package init(id: DownloadID, url: SourceURL, like other: borrowing DownloadEntry) {
        (self.id, self.url) = (id, url)
        origin = url.hasOrigin(of: other.url) ? other.origin : url.origin
        common = other.common
    }

    package var priority: Int { common.priority }
    package var state: DownloadState { common.state }

    /// The download's own record.
    package var record: DownloadRecord {
        if common.id == id { return common }
        var record = common
        record.id = id
        record.request.url = url
        return record
    }

    /// The record of the download while its bytes come.
    package var started: DownloadRecord {
        var record = record
        record.move(to: .running)
        return record
    }

    /// Returns whether both entries have the record of the same list.
    package func isListed(with other: DownloadEntry) -> Bool { common.isCopy(of: other.common) }
}

extension RequestList.Run {
    /// Returns the entry of a new download of this run.
    /// - Parameter other: Another entry of the run, whose origin may be shared; nil for the first.
    package func entry(
        adding url: SourceURL, like other: DownloadEntry?, id: DownloadID, to session: String, at now: Date
    ) -> DownloadEntry {
        if let other, other.isSourceItsURL { return DownloadEntry(id: id, url: url, like: other) }
        return DownloadEntry(DownloadRecord(adding: request(for: url), id: id, to: session, at: now))
    }
}
