import DownloadCore
import DownloadSystem
import Foundation

/// The unchanged file of an earlier completed run of a download. The new run may keep this file instead of fetching it.
struct EarlierCompletion {
    private let record: DownloadRecord
    private let file: CompletedFile
    private let isUnsigned: Bool

    /// Returns nil if there is no such file, or if the file was changed.
    /// - Parameter isUnsigned: Whether the file counts although its signature is missing.
    init?(of record: DownloadRecord, isUnsigned: Bool = false) {
        let (request, destination) = (record.request, record.request.destination)
        guard let file = record.completed, request.isPlain, record.resume.written.isEmpty,
            // A file with an alternative name, such as `NAME (1)`, counts only if the request allows alternative names.
            destination.ifExists == .rename
                || destination.fileName.map({ FileNaming.path(destination.folder, $0) == file.path }) ?? true,
            // The conditions of this request may be stricter than those of the earlier run.
            request.validation.failure(type: record.resume.contentType) == nil,
            request.validation.failure(size: file.bytes) == nil,
            let now = FileStatus.of(file.path), now.identity.isSame(as: file.identity), file.isSame(as: now)
        else { return nil }
        self.record = record
        self.file = file
        self.isUnsigned = isUnsigned
    }

    /// The file, if it has validators or the request keeps completed files. Unlike ``current``, the checksum of the
    /// request does not matter.
    var unchanged: CompletedFile? { !file.validators.isEmpty || record.request.keepsCompleted ? file : nil }

    /// The file, if it meets the request and has validators for a conditional request.
    var current: CompletedFile? { file.validators.isEmpty ? nil : asked }

    /// The file, if it has the checksum that the request asks for.
    private var asked: CompletedFile? {
        if !record.request.signedBy.isEmpty {
            if record.resume.signature == nil, !isUnsigned { return nil }
        } else if record.request.proof == .require, !file.isProved {
            return nil
        }
        do throws(DownloadError) {
            let checksum = try record.askedChecksum(of: file.path)
            return checksum == nil || checksum == file.checksum ? file : nil
        } catch {
            // The checksum list does not have the file, or has it twice. The server's next answer decides.
            return nil
        }
    }

    /// Returns the file, if the download request keeps it without a request to the server.
    static func unasked(of record: DownloadRecord) -> CompletedFile? {
        guard record.request.keepsCompleted, !record.request.repairs else { return nil }
        return EarlierCompletion(of: record)?.asked
    }
}

extension Attempt {
    /// The complete file on disk for which a conditional request asks whether it is current: the file of an earlier
    /// run, or the partial file, if an earlier attempt found no good signature of it.
    var candidate: CompletedFile? {
        if let earlier = EarlierCompletion(of: record, isUnsigned: search.unsigned != nil)?.current { return earlier }
        let resume = record.resume
        guard !record.request.signedBy.isEmpty, sourceCheck == nil, resume.movedFrom == nil,
            !resume.validators.isEmpty, let file = local.file, let total = resume.total, total > 0,
            file.written.contains(0..<total)
        else { return nil }
        return CompletedFile(
            path: file.path, bytes: total, identity: file.identity, modified: 0, validators: resume.validators)
    }
}

extension CompletedFile {
    /// Whether the file was compared with a digest. A CRC finds accidents only.
    var isProved: Bool { checksum?.algorithm.isCRC == false }

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
