/// How the sources of a download did that has several: its URL and its mirrors.
package struct SourceBook: Codable, Sendable, Equatable {
    /// The URL that is asked; nil for that of the request.
    package var current: String?
    /// Where the bytes that are here, and their validators, come from; nil for the URL of the request.
    package var owner: String?
    /// Of those that were asked.
    package var standings: [SourceStanding] = []
    /// One alone is to bring the rest: of several together one has lied.
    package var isAlone = false
    /// The one that is asked is not to blame for the last failure.
    package var isInnocent = false
    /// Why the Metalink document that the server named last is not gone by.
    package var documentFailure: String?

    package init() {}

    /// What is kept when everything that is here is given up.
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

    /// Bytes of more than one source are here.
    var isMixed: Bool { standings.count { $0.received > 0 } > 1 }

    /// What is known of a source; of one that was not asked nothing is.
    package func standing(of url: String) -> SourceStanding {
        standings.first { $0.url == url } ?? SourceStanding(url: url)
    }

    mutating func change(_ url: String, _ change: (inout SourceStanding) -> Void) {
        let index = standings.firstIndex { $0.url == url } ?? standings.endIndex
        if index == standings.endIndex { standings.append(SourceStanding(url: url)) }
        change(&standings[index])
    }
}

/// How one source did.
package struct SourceStanding: Codable, Sendable, Equatable {
    package var url: String
    /// Bytes that it brought, of those that are here.
    package var received: Int64 = 0
    /// Why it was left last.
    package var failure: String?
    /// It is not asked again before all others were.
    package var isOut = false
    /// Nor after that: to ask again would not help.
    package var isFinal = false

    package init(url: String) { self.url = url }
}

extension DownloadRequest {
    /// Where the file is, as it is asked for.
    package var sources: [SourceURL] { describedName == nil ? [url] + mirrors : mirrors }

    /// What the document at its URL says is kept, as long as something of the file is here.
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

    /// What a document says that the server named for another version than the one that is fetched from now on.
    mutating func forgetDescription() {
        guard describedBy != nil else { return }
        (describedBy, mirrors, size, pieces) = (nil, [], nil, nil)
    }
}

extension DownloadRecord {
    /// The one that is asked.
    package var source: SourceURL {
        guard let current = resume.sources?.current ?? request.describedName.map({ _ in "" }) else {
            return request.url
        }
        return request.mirrors.first { $0.string == current } ?? request.sources.first ?? request.url
    }

    /// What is here came from elsewhere than from the source that is asked now: its validators say nothing of that.
    var isJoining: Bool {
        guard let book = resume.sources, !resume.written.isEmpty else { return false }
        return (book.owner ?? request.url.string) != source.string
    }

    /// What was fetched is given up. How the sources did is not: those that failed would be asked first again.
    var startedOver: ResumeData {
        var resume = ResumeData()
        resume.sources = self.resume.sources?.startedOver
        return resume
    }

    enum SourceTurn: Equatable {
        /// There is but one, or it is not to blame.
        case none
        /// Another is asked at once.
        case next
        /// All were asked; some may do better later.
        case again
        /// None will.
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

    /// Decides who is asked after an attempt that failed.
    /// - Parameter repeats: the same source may do better later.
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
            // One of several has brought what is wrong: all of it comes from this one now.
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
    /// Another source may do better.
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

    /// All bytes came, and they are not what they should be.
    fileprivate var isMismatch: Bool {
        switch self {
        case .verificationFailed(.checksum), .verificationFailed(.serverDigest), .verificationFailed(.wrongPieces): true
        default: false
        }
    }
}
