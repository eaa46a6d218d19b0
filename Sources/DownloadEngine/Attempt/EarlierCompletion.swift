import DownloadCore
import DownloadSystem
import Foundation

/// The unchanged file of an earlier completed run of a download. The new run may keep this file instead of fetching it.
struct EarlierCompletion {
    private let record: DownloadRecord
    private let file: CompletedFile

    /// Returns nil if there is no such file, or if the file was changed.
    init?(of record: DownloadRecord) {
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
    }

    /// The file, if it has validators or the request keeps completed files. Unlike ``current``, the checksum of the
    /// request does not matter.
    var unchanged: CompletedFile? { !file.validators.isEmpty || record.request.keepsCompleted ? file : nil }

    /// The file, if it meets the request and has validators for a conditional request.
    var current: CompletedFile? { file.validators.isEmpty ? nil : asked }

    /// The file, if it has the checksum that the request asks for.
    private var asked: CompletedFile? {
        let keys = record.request.signedBy
        if keys.isEmpty {
            if record.request.proof == .require, !file.isProved { return nil }
        } else {
            guard let signature = record.resume.signature, keys.contains(signature.asked) else { return nil }
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
