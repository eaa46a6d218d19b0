import Foundation
import HTTPTypes

/// The conditions in the record that the file must meet.
extension DownloadRecord {
    /// The checksum that the user gave, or else the server's digest of this version.
    var expected: VerifiedChecksum? {
        request.checksum.map { VerifiedChecksum($0, by: .user) }
            ?? resume.digest.map { VerifiedChecksum($0, by: .server) }
    }

    /// Whether the server's digest is used. It is ignored if the user gave a checksum.
    var asksForDigest: Bool { request.checksum == nil }

    /// Whether the download now uses a mirror. The validators of a mirror prove nothing about bytes from other sources.
    var isMirror: Bool { source != request.url }

    /// Whether digests of pieces are known for this size. They prove that parts are of one version.
    var hasPieces: Bool { resume.total.map { request.pieces?.fits(size: $0) ?? false } ?? false }

    /// Returns the value of the `Content-Disposition` field, which may name the file. Returns nil if the user wants the
    /// name in the URL, or if the answer came from a mirror.
    func disposition(_ head: ResponseHead) -> String? { isMirror ? nil : request.destination.disposition(head) }

    /// Throws if the size of a source differs from the size that the user or a Metalink document gave.
    func requireSize(_ total: Int64?) throws(DownloadError) {
        guard let size = request.size, let total, total != size else { return }
        throw .verificationFailed(.size(expected: size, actual: total))
    }

    /// Records the digest in the first answer of a source. If the request has a list of checksums, also records the
    /// server's name for the file.
    mutating func learnDigest(from head: ResponseHead, _ url: SourceURL) throws(DownloadError) {
        if request.checksums != nil {
            let field = disposition(head)
            if field.flatMap({ ContentDisposition(fieldValue: $0) })?.fileName != nil {
                resume.servedName = FileNaming.name(contentDisposition: field, url: url)
            }
            try findListedChecksum()
        }
        let digest = ServerDigest.checksum(of: head)
        // Later answers were judged to have the same version, so the known digest stays. If the version differs after
        // all, the digest shows it. The digest from the URL also stays while a mirror is used: the mirror's bytes must
        // match it.
        let isNew = resume.written.isEmpty && !isMirror
        resume.digest = isNew ? digest : resume.digest ?? digest
    }

    /// Looks up the checksum of the file in the list of the request, by the names that the server gave.
    mutating func findListedChecksum() throws(DownloadError) { request.checksum = try askedChecksum(of: fileName) }

    /// Returns the checksum that the user gave. Without one, returns the checksum in the request's list for the names
    /// of the file: those that the server gave, or this name on disk.
    func askedChecksum(of name: String?) throws(DownloadError) -> Checksum? {
        if let checksum = request.checksum { return checksum }
        let names = [resume.servedName, resume.finalURL.map(ChecksumList.path), name]
        return try request.checksums?.checksum(forFirstOf: names.compactMap(\.self))
    }

    /// The file of an earlier completed run, if it is unchanged, meets the request, and has validators for a
    /// conditional request.
    var currentFile: CompletedFile? {
        guard let completed = askedCompletion, !completed.validators.isEmpty else { return nil }
        return completed
    }

    /// The file of an earlier completed run, if it is unchanged and has the checksum that the request asks for.
    private var askedCompletion: CompletedFile? {
        guard let completed = unchangedFile else { return nil }
        do throws(DownloadError) {
            let checksum = try askedChecksum(of: completed.path)
            return checksum == nil || checksum == completed.checksum ? completed : nil
        } catch {
            // The checksum list does not have the file, or has it twice. The server's next answer decides.
            return nil
        }
    }

    /// The file of an earlier completed run, if it is unchanged, and if it has validators or the request keeps
    /// completed files. Unlike ``currentFile``, the checksum of the request does not matter.
    var unchangedCompletion: CompletedFile? {
        guard let completed = unchangedFile, !completed.validators.isEmpty || request.keepsCompleted else { return nil }
        return completed
    }

    private var unchangedFile: CompletedFile? {
        let destination = request.destination
        guard request.isPlain, let completed, resume.written.isEmpty,
            // A file with an alternative name, such as `NAME (1)`, counts only if the request allows alternative names.
            destination.ifExists == .rename
                || destination.fileName.map({ FileNaming.path(destination.folder, $0) == completed.path }) ?? true,
            // The conditions of this request may be stricter than those of the earlier run.
            request.validation.failure(type: resume.contentType) == nil,
            request.validation.failure(size: completed.bytes) == nil,
            let now = FileStatus.of(completed.path), now.identity.isSame(as: completed.identity),
            completed.fate(.found(now)) == .there
        else { return nil }
        return completed
    }

    /// Keeps the file of an earlier completed run without a request to the server, if the download request allows it.
    /// - Returns: False if the request does not allow it, or if there is no such file.
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
    /// Returns whether an answer to a conditional request has the same version as the file on disk, although the server
    /// ignored the condition.
    func isSame(as head: ResponseHead, _ verdict: ResponseJudge.Verdict, now: Date) -> Bool {
        if let checksum, ServerDigest.contradicts(checksum, head) != nil { return false }
        let served = Validators(head: head, now: now)
        if let was = validators.etag, let etag = served.etag { return was == etag }
        guard case .body(_, _, let total) = verdict else { return false }
        return validators.lastModified != nil && validators.lastModified == served.lastModified && total == bytes
    }
}
