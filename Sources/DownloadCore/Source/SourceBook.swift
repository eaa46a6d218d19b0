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
        for index in standings.indices { book.standings[index].received = 0 }
        return book
    }

    mutating func beAlone() {
        (isAlone, isInnocent) = (true, true)
        for index in standings.indices where standings[index].url != current { standings[index].received = 0 }
    }

    /// Whether the partial file has bytes of more than one source.
    var isMixed: Bool { standings.count { $0.received > 0 } > 1 }

    /// Returns the state of a source, which is empty if the source was not used yet.
    package func standing(of url: String) -> SourceStanding {
        standings.first { $0.url == url } ?? SourceStanding(url: url)
    }

    mutating func change(_ url: String, _ change: (inout SourceStanding) -> Void) {
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
    /// Whether the source is not used again even after that, because another try would not help.
    package var isFinal = false

    package init(url: String) { self.url = url }
}

extension DownloadRequest {
    /// The sources of the file in the order of their use.
    package var sources: [SourceURL] { describedName == nil ? [url] + mirrors : mirrors }

    /// Keeps the values from a Metalink document of an earlier request, as long as the partial file has bytes.
    package mutating func keepDescription(of record: DownloadRecord) {
        let old = record.request
        if repairs, pieces == nil, old.pieces != nil {
            (describedName, mirrors, size, pieces) = (old.describedName, old.mirrors, old.size, old.pieces)
            describedBy = old.describedBy
            checksum = checksum ?? old.checksum
            return
        }
        guard old.describedName != nil || old.describedBy != nil, !record.resume.written.isEmpty, mirrors.isEmpty,
            followsMetalink
        else { return }
        (describedName, describedBy) = (old.describedName, old.describedBy)
        (mirrors, size, pieces) = (old.mirrors, old.size, old.pieces)
        checksum = checksum ?? old.checksum
    }

    /// Removes the values from a Metalink document that the server named, because the download now fetches another
    /// version of the file.
    mutating func forgetDescription() {
        guard describedBy != nil else { return }
        (describedBy, mirrors, size, pieces) = (nil, [], nil, nil)
    }
}

extension DownloadRecord {
    /// The source that is used now.
    package var source: SourceURL {
        guard let current = resume.sources?.current ?? request.describedName.map({ _ in "" }) else {
            return request.url
        }
        return request.mirrors.first { $0.string == current } ?? request.sources.first ?? request.url
    }

    /// Whether the bytes in the partial file came from another source than the one that is used now. The validators of
    /// these bytes then say nothing about the present source.
    var isJoining: Bool {
        guard let book = resume.sources, !resume.written.isEmpty else { return false }
        return (book.owner ?? request.url.string) != source.string
    }

    /// Empty resume data that keeps the states of the sources. Otherwise sources that failed would be used first again.
    var startedOver: ResumeData {
        var resume = ResumeData()
        resume.sources = self.resume.sources?.startedOver
        return resume
    }

    enum SourceTurn: Equatable {
        /// No other source is chosen, because there is only one source or because the failure is not the fault of a
        /// source.
        case none
        /// Another source is used at once.
        case next
        /// All sources have failed, and some may succeed later.
        case again
        /// All sources have failed for good.
        case over

        func decide(
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

    /// Decides which source is used after a failed attempt.
    /// - Parameter repeats: whether the same source may succeed later.
    mutating func turn(after error: DownloadError, repeats: Bool) -> SourceTurn {
        guard !request.mirrors.isEmpty, error.isOfSource else { return .none }
        var book = resume.sources ?? SourceBook()
        defer { resume.sources = book }
        if error.isMismatch, book.isInnocent {
            book.isInnocent = false
            return .next
        }
        if error.isMismatch, book.isMixed {
            book.isAlone = true
            // One of several sources has sent wrong bytes, so from now on all bytes come from the present source.
            for index in book.standings.indices { book.standings[index].received = 0 }
            return .next
        }
        book.change(source.string) { standing in
            standing.failure = error.description
            standing.isOut = true
            standing.isFinal = !repeats
        }
        let urls = request.sources.map(\.string)
        if let next = urls.first(where: { !book.standing(of: $0).isOut }) {
            book.current = next
            return .next
        }
        let hopeful = urls.filter { !book.standing(of: $0).isFinal }
        for index in book.standings.indices {
            book.standings[index].isOut = book.standings[index].isFinal && !hopeful.isEmpty
            book.standings[index].isFinal = book.standings[index].isOut
        }
        guard let first = hopeful.first else { return .over }
        book.current = first
        return .again
    }
}

extension DownloadError {
    /// Whether another source may succeed after this error.
    var isOfSource: Bool {
        switch self {
        case .networkFailed(let failure, _): failure != .timeLimit
        case .trustFailed, .authenticationFailed, .protocolViolated, .serverRefused: true
        case .verificationFailed(.notItsBeginning), .verificationFailed(.streamBroken): false
        case .verificationFailed: true
        case .requestInvalid, .fileFailed, .noSuchDownload, .cancelled, .sessionUnavailable, .completedFile,
            .unexpected:
            false
        }
    }

    /// Whether all bytes have come, but do not match a digest.
    fileprivate var isMismatch: Bool {
        switch self {
        case .verificationFailed(.checksum), .verificationFailed(.serverDigest), .verificationFailed(.wrongPieces): true
        default: false
        }
    }
}
