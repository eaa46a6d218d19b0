import Foundation
import HTTPTypes

/// What the record says the file must be.
extension DownloadRecord {
    /// The checksum that the user gave, or else the server's digest of this version.
    var expected: VerifiedChecksum? {
        request.checksum.map { VerifiedChecksum($0, by: .user) }
            ?? resume.digest.map { VerifiedChecksum($0, by: .server) }
    }

    /// With a checksum from the user nothing depends on what a server says of the digest.
    var asksForDigest: Bool { request.checksum == nil }

    /// A mirror is asked. Its validators are its own; where the bytes come from elsewhere they prove nothing.
    var isMirror: Bool { source != request.url }

    /// The digests of the pieces prove that parts are of one version.
    var hasPieces: Bool { resume.total.map { request.pieces?.fits(size: $0) ?? false } ?? false }

    /// The field that may name the file; nil where the user wants the URL to, or a mirror is asked.
    func disposition(_ head: ResponseHead) -> String? { isMirror ? nil : request.destination.disposition(head) }

    /// The size that a Metalink document tells holds for each source.
    func requireSize(_ total: Int64?) throws(DownloadError) {
        guard let size = request.size, let total, total != size else { return }
        throw .verificationFailed(.size(expected: size, actual: total))
    }

    /// Records the digest that a first answer tells and, for a list of checksums, the name of the file.
    mutating func learnDigest(from head: ResponseHead, _ url: SourceURL) throws(DownloadError) {
        if request.checksums != nil {
            let field = disposition(head)
            if field.flatMap({ ContentDisposition(fieldValue: $0) })?.fileName != nil {
                resume.servedName = FileNaming.name(contentDisposition: field, url: url)
            }
            try findListedChecksum()
        }
        let digest = ServerDigest.checksum(of: head)
        // A later answer was found to be of the same version, so its digest is as good, and tells if the version differs.
        // What the URL told before a mirror is asked stays: the mirror has to prove that.
        let isNew = resume.written.isEmpty && !isMirror
        resume.digest = isNew ? digest : resume.digest ?? digest
    }

    /// Looks up the checksum in the list that came with the request, by the names that the server gave.
    mutating func findListedChecksum() throws(DownloadError) { request.checksum = try askedChecksum(of: fileName) }

    /// Returns the checksum that the user gave, or that is listed for the file that has this name on disk, if any.
    func askedChecksum(of name: String?) throws(DownloadError) -> Checksum? {
        if let checksum = request.checksum { return checksum }
        let names = [resume.servedName, resume.finalURL.map(ChecksumList.path), name]
        return try request.checksums?.checksum(forFirstOf: names.compactMap(\.self))
    }

    /// The file of an earlier completion, if it is unchanged, is what is asked for, and has validators to ask with.
    var currentFile: CompletedFile? {
        guard let completed = askedCompletion, !completed.validators.isEmpty else { return nil }
        return completed
    }

    /// The file of an earlier completion, if it is unchanged and is what is asked for.
    private var askedCompletion: CompletedFile? {
        guard let completed = unchangedFile else { return nil }
        do throws(DownloadError) {
            let checksum = try askedChecksum(of: completed.path)
            return checksum == nil || checksum == completed.checksum ? completed : nil
        } catch {
            // The file is not listed, or listed twice: the new answer decides.
            return nil
        }
    }

    /// The file of an earlier completion, if it is unchanged and has validators, whatever checksum is asked for.
    var unchangedCompletion: CompletedFile? {
        guard let completed = unchangedFile, !completed.validators.isEmpty || request.keepsCompleted else { return nil }
        return completed
    }

    private var unchangedFile: CompletedFile? {
        let destination = request.destination
        guard request.isPlain, let completed, resume.written.isEmpty,
            // An alternative name answers for the one asked for only where alternatives are wanted.
            destination.ifExists == .rename
                || destination.fileName.map({ FileNaming.path(destination.folder, $0) == completed.path }) ?? true,
            // What an earlier run accepted may not be what is asked for now.
            request.validation.failure(type: resume.contentType) == nil,
            request.validation.failure(size: completed.bytes) == nil,
            let now = FileStatus.of(completed.path), now.identity.isSame(as: completed.identity),
            completed.fate(.found(now)) == .there
        else { return nil }
        return completed
    }

    /// Keeps the file of an earlier completion without a question to the server, where that is asked for.
    /// - Returns: false where there is no such file.
    mutating func keepUnasked() -> Bool {
        guard request.keepsCompleted, !request.repairs, let completed = askedCompletion else { return false }
        keepCurrent(completed)
        return true
    }

    mutating func keepCurrent(_ candidate: CompletedFile?) {
        guard var current = candidate else { return }
        current.wasCurrent = true
        completed = current
        fileName = FileNaming.lastComponent(current.path)
    }
}

extension CompletedFile {
    /// The server ignored the condition, but its answer is the version that is here.
    func isSame(as head: ResponseHead, _ verdict: ResponseJudge.Verdict, now: Date) -> Bool {
        if let checksum, ServerDigest.contradicts(checksum, head) != nil { return false }
        let served = Validators(head: head, now: now)
        if let was = validators.etag, let etag = served.etag { return was == etag }
        guard case .body(_, _, let total) = verdict else { return false }
        return validators.lastModified != nil && validators.lastModified == served.lastModified && total == bytes
    }
}
