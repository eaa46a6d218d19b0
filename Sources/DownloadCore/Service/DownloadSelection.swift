/// The downloads that a command is for.
package struct DownloadSelection: Sendable, Equatable, Codable {
    package enum Which: Sendable, Equatable, Codable {
        case ids([DownloadID])
        case states(Set<DownloadState.Kind>)
        /// The downloads that have, or will have, this final name in this folder.
        case file(folder: String, name: String)
        case all
    }

    package var which: Which
    /// The maximum number of downloads. The newest downloads are selected, or, with ``after``, the first ones after
    /// that id.
    package var limit: Int?
    /// The id after which the selection begins. Only downloads with higher ids are selected. It is used to read a long
    /// list page by page.
    package var after: DownloadID?
    /// Whether the sessions are asked for the connections of running downloads, too.
    package var isDetailed: Bool

    package init(_ which: Which, limit: Int? = nil, after: DownloadID? = nil, isDetailed: Bool = false) {
        self.which = which
        self.limit = limit
        self.after = after
        self.isDetailed = isDetailed
    }

    package static func ids(_ ids: [DownloadID], isDetailed: Bool = false) -> Self {
        Self(.ids(ids), isDetailed: isDetailed)
    }
    package static let all = Self(.all)
}

extension [DownloadRecord] {
    /// Returns the elements with the `limit` highest ids, in the same order.
    package func newest(_ limit: Int?) -> [DownloadRecord] {
        guard let limit, limit < count else { return self }
        let kept = Set(map(\.id).sorted(by: >).prefix(Swift.max(0, limit)))
        return filter { kept.contains($0.id) }
    }
}

extension Sequence where Element: Strideable, Element.Stride: SignedInteger {
    /// The numbers as ranges of consecutive numbers, in the same order.
    package var ranges: [ClosedRange<Element>] {
        reduce(into: []) { ranges, number in
            if let last = ranges.last, last.upperBound < number, last.upperBound.advanced(by: 1) == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
    }
}

extension Array {
    /// Returns the ranges as text, such as `1` and `5-8`.
    package func text<Number: Strideable>(separator: String) -> String
    where Element == ClosedRange<Number>, Number.Stride: SignedInteger {
        map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: separator)
    }
}

/// A change of a download that does not start it. The download may be running or not.
package enum DownloadChange: Sendable, Equatable {
    case pause
    /// Ends the download, and keeps its partial file.
    case cancel
    /// Sets the priority. Downloads with a higher priority start earlier.
    case priority(Int)
    /// Sets the speed limit in bytes per second; nil removes the limit.
    case rateLimit(Int64?)
    /// Sets another URL of the same file, for example because the old URL has expired.
    case url(SourceURL, Credential?)
    /// Sets the mirrors: the other URLs of the same file.
    case mirrors([SourceURL])
}

package struct ChangedDownload: Sendable, Equatable {
    package var snapshot: DownloadSnapshot
    /// Whether the download changed. It did not change if it already had the wanted value, or if its state does not
    /// allow the change.
    package var didChange: Bool

    package init(snapshot: DownloadSnapshot, didChange: Bool) {
        self.snapshot = snapshot
        self.didChange = didChange
    }
}
