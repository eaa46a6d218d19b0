/// The state of the sources of a download. The sources are its URL and its mirrors.
package struct SourceBook: Codable, Sendable, Equatable {
    /// The URL that is used now; nil for the URL of the request.
    package var current: String?
    /// The source of the bytes in the partial file and of their validators; nil for the URL of the request.
    package var owner: String?
    /// The states of the sources that were used.
    package var standings: [SourceStanding] = []
    /// Whether only one source is used from now on, because one of several sources has sent wrong bytes.
    package var isAlone = false
    /// Whether the next mismatch of a digest is not counted against the source that is used now.
    package var isInnocent = false
    /// The reason why the last Metalink document that the server named is not used.
    package var documentFailure: String?

    package init() {}

    /// The states of the sources for a download that starts over.
    var startedOver: SourceBook {
        var book = self
        book.owner = nil
        book.forgetBytes()
        return book
    }

    package mutating func beAlone() {
        (isAlone, isInnocent) = (true, true)
        forgetBytes(exceptOf: current)
    }

    /// Records that no bytes of the partial file count as received from the sources.
    mutating func forgetBytes(exceptOf url: String? = nil) {
        for index in standings.indices where standings[index].url != url { standings[index].received = 0 }
    }

    /// Whether the partial file has bytes of more than one source.
    var isMixed: Bool { standings.count { $0.received > 0 } > 1 }

    /// Returns the state of a source, which is empty if the source was not used yet.
    package func standing(of url: String) -> SourceStanding {
        standings.first { $0.url == url } ?? SourceStanding(url: url)
    }

    package mutating func change(_ url: String, _ change: (inout SourceStanding) -> Void) {
        let index = standings.firstIndex { $0.url == url } ?? standings.endIndex
        if index == standings.endIndex { standings.append(SourceStanding(url: url)) }
        change(&standings[index])
    }
}

/// The state of one source.
package struct SourceStanding: Codable, Sendable, Equatable {
    package var url: String
    /// The number of bytes in the partial file that came from this source.
    package var received: Int64 = 0
    /// The reason why dlm last turned to another source.
    package var failure: String?
    /// Whether the source has failed. It is not used again before all other sources were tried.
    package var isOut = false
    /// Whether the source is not used again even after all other sources were tried, because another try would not
    /// help.
    package var isFinal = false

    package init(url: String) { self.url = url }
}

extension DownloadRequest {
    /// The sources of the file in the order of their use.
    package var sources: [SourceURL] { describedName == nil ? [url] + mirrors : mirrors }

    /// Keeps the values from a Metalink document of an earlier request if the partial file has bytes, or if this
    /// request is a repair. Keeps the whole earlier request if a command gave it and this one came over the network:
    /// otherwise a client could take away the checksum.
    package mutating func keepParts(of record: DownloadRecord) {
        let old = record.request
        if old.destination.followsLinks, !destination.followsLinks {
            self = old
            return
        }
        let needsPieces = repairs && pieces == nil && old.pieces != nil
        let isDescribed = old.describedName != nil || old.describedBy != nil
        guard needsPieces || isDescribed && !record.resume.written.isEmpty && mirrors.isEmpty && followsMetalink else {
            return
        }
        (describedName, describedBy) = (old.describedName, old.describedBy)
        (mirrors, size, pieces) = (old.mirrors, old.size, old.pieces)
        checksum = checksum ?? old.checksum
    }

    /// Removes the values from a Metalink document that the server named, because the download now fetches another
    /// version of the file.
    package mutating func forgetDescription() {
        guard describedBy != nil else { return }
        (describedBy, mirrors, size, pieces) = (nil, [], nil, nil)
    }
}

/// What follows from a failed attempt for the sources of a download.
package enum SourceTurn: Equatable {
    /// No other source is chosen, because there is only one source or because the failure is not the fault of a source.
    case none
    /// Another attempt begins at once, usually with another source.
    case next
    /// All sources have failed, and some may succeed later.
    case again
    /// All sources have failed for good.
    case over

    package func decide(
        _ request: DownloadRequest, _ error: DownloadError, _ failures: Int, _ retryAfter: ServerPause?
    ) -> RetryPolicy.Decision {
        guard request.mayBeSentAgain(after: error) else { return .giveUp }
        switch self {
        case .next: return .retry(after: 0)
        case .over: return .giveUp
        case .none, .again:
            return request.retry.decide(
                error, failures: failures, retryAfter: retryAfter?.seconds, jitter: .random(in: 0...1),
                isHopeful: self == .again)
        }
    }
}
