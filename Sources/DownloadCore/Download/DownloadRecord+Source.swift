import Foundation
import HTTPTypes

/// The source of a download, and the conditions in the record that the file must meet.
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
    package var isJoining: Bool {
        guard let book = resume.sources, !resume.written.isEmpty else { return false }
        return (book.owner ?? request.url.string) != source.string
    }

    /// Empty resume data that keeps the states of the sources. Otherwise sources that failed would be used first again.
    package var startedOver: ResumeData {
        var resume = ResumeData()
        resume.sources = self.resume.sources?.startedOver
        return resume
    }

    /// Decides which source is used after a failed attempt.
    /// - Parameter repeats: Whether the same source may succeed later.
    package mutating func turn(after error: DownloadError, repeats: Bool) -> SourceTurn {
        let meaning = error.meaning
        guard !request.mirrors.isEmpty, meaning.isOfSource else { return .none }
        var book = resume.sources ?? SourceBook()
        defer { resume.sources = book }
        if meaning.isMismatch, book.isInnocent {
            book.isInnocent = false
            return .next
        }
        if meaning.isMismatch, book.isMixed {
            book.isAlone = true
            // One of several sources has sent wrong bytes, so from now on all bytes come from the present source.
            book.forgetBytes()
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

    // MARK: The expected file

    /// The checksum that the user gave, or else the digest in the server's answer.
    package var stated: VerifiedChecksum? {
        if let checksum = request.checksum { return VerifiedChecksum(checksum, by: .user) }
        return request.proof == .off ? nil : resume.digest.map { VerifiedChecksum($0, by: .server) }
    }

    /// The checksum that the file must match: the stated one, or a digest that was found beside the file. That one may be
    /// of an earlier version and is given up then, so it makes no other check needless.
    package var expected: VerifiedChecksum? {
        guard request.checksum == nil, request.signedBy.isEmpty, [.auto, .require].contains(request.proof),
            let found = resume.proof?.found
        else { return stated }
        return VerifiedChecksum(found, by: .server)
    }

    /// Whether a stated digest proves the file, whichever sources its bytes come from. A CRC finds accidents only.
    package var isProved: Bool { stated?.checksum.algorithm.isCRC == false }

    /// Whether the download now uses a mirror. The validators of a mirror prove nothing about bytes from other sources.
    package var isMirror: Bool { source != request.url }

    /// Whether digests of pieces are known for this size. They prove that parts are of one version.
    package var hasPieces: Bool { resume.total.map { request.pieces?.fits(size: $0) ?? false } ?? false }

    /// Returns the value of the `Content-Disposition` field, which may name the file. Returns nil if the user wants the
    /// name in the URL, or if the answer came from a mirror.
    func disposition(_ head: ResponseHead) -> String? { isMirror ? nil : request.destination.disposition(head) }

    /// Throws if the size of a source differs from the size that the user or a Metalink document gave.
    package func requireSize(_ total: Int64?) throws(DownloadError) {
        guard let size = request.size, let total, total != size else { return }
        throw .verificationFailed(.size(expected: size, actual: total))
    }

    /// Records the digest in the first answer of a source. If the request has a list of checksums, also records the
    /// server's name for the file.
    package mutating func learnDigest(from head: ResponseHead, _ url: SourceURL) throws(DownloadError) {
        if request.checksums != nil {
            let field = disposition(head)
            if field.flatMap({ ContentDisposition(fieldValue: $0) })?.fileName != nil {
                resume.servedName = FileNaming.name(contentDisposition: field, url: url)
            }
            try findListedChecksum()
        }
        let digest = request.proof == .off ? nil : ServerDigest.checksum(of: head)
        // Later answers were judged to have the same version, so the known digest stays. If the version differs after
        // all, the digest shows it. The digest from the URL also stays while a mirror is used: the mirror's bytes must
        // match it.
        let isNew = resume.written.isEmpty && !isMirror
        resume.digest = isNew ? digest : resume.digest ?? digest
    }

    /// Records the digest that follows the body of an answer. Throws if it contradicts the digest that was known before.
    package mutating func learnDigest(fromTrailers trailers: HTTPFields, after head: ResponseHead) throws(DownloadError)
    {
        let found = ServerDigest.checksums(of: head, in: trailers)
        guard let digest = found.first else { return }
        guard let known = resume.digest else { return resume.digest = digest }
        if let other = found.first(where: { $0.algorithm == known.algorithm && $0.digest != known.digest }) {
            throw .verificationFailed(.serverDigest(expected: known, actual: other.digest))
        }
    }

    /// Looks up the checksum of the file in the list of the request, by the names that the server gave.
    package mutating func findListedChecksum() throws(DownloadError) {
        request.checksum = try askedChecksum(of: fileName)
    }

    /// Returns the checksum that the user gave. Without one, returns the checksum in the request's list for the names
    /// of the file: those that the server gave, or this name on disk.
    package func askedChecksum(of name: String?) throws(DownloadError) -> Checksum? {
        if let checksum = request.checksum { return checksum }
        let names = [resume.servedName, resume.finalURL.map(ChecksumList.path), name]
        return try request.checksums?.checksum(forFirstOf: names.compactMap(\.self))
    }
}
