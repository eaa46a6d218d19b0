import Foundation

/// A download whose whole file came in one answer, from its last byte to the save of its end. A store writes these
/// values as they are. Records are made of them for stores that cannot, and for readers of events.
///
/// It is a class, because a struct would be copied some ten times on its way. The committer changes it, one step after
/// another, before it passes it on.
package final class SmallFile: @unchecked Sendable {
    /// The facts about the file that its answer states.
    package struct Answer: Sendable {
        package let validators: Validators
        package let contentType: String?
        /// Whether the server answered a range request with 206.
        package let acceptsRanges: Bool
        /// The digest of the file, which its bytes have; nil if the answer states none.
        package let digest: Checksum?

        package init(validators: Validators, contentType: String?, acceptsRanges: Bool, digest: Checksum? = nil) {
            self.validators = validators
            self.contentType = contentType
            self.acceptsRanges = acceptsRanges
            self.digest = digest
        }
    }

    package let entry: DownloadEntry
    package let size: Int64
    package let answer: Answer
    /// Whether the URL may be shown as the final URL. False if it contains a secret.
    package let showsURL: Bool
    /// The identity of the file, which has no name at first.
    package let identity: FileIdentity
    package let metrics: TransferMetrics?
    package let began: Date
    /// The time at which the bytes were written.
    package let written: Date
    /// The final name, which the file may have or get next.
    package let name: String
    /// The file under its final name; nil before.
    package private(set) var completed: CompletedFile?
    /// The time at which the file had its name and the name survived a loss of power.
    package private(set) var ended: Date?

    package init(
        _ entry: DownloadEntry, name: String, size: Int64, answer: Answer, showsURL: Bool, identity: FileIdentity,
        metrics: TransferMetrics?, began: Date, written: Date
    ) {
        self.entry = entry
        self.name = name
        self.size = size
        self.answer = answer
        self.showsURL = showsURL
        self.identity = identity
        self.metrics = metrics
        self.began = began
        self.written = written
    }

    package var id: DownloadID { entry.id }

    /// Records that the file has its final name.
    package func take(path: String, bytes: Int64, identity: FileIdentity, modified: Int64) {
        completed = CompletedFile(
            path: path, bytes: bytes, identity: identity, modified: modified, validators: answer.validators,
            checksum: answer.digest, verifiedBy: answer.digest.map { _ in .server })
    }

    /// Records that the download is complete.
    package func end(at time: Date) { ended = time }

    // MARK: Records

    /// The record of the download when all bytes had come.
    package var whole: DownloadRecord {
        var record = entry.started
        record.fileName = name
        record.resume = resume
        record.updated = written
        return record
    }

    /// The record that says that the file is about to get its name.
    package var finishing: DownloadRecord {
        var record = whole
        record.attempts.append(attempt)
        record.attempts.removeFirst(max(0, record.attempts.count - DownloadRecord.attemptsKept))
        record.beginFinishing()
        return record
    }

    /// The record at the end. Until ``end(at:)`` was called, it is the same as ``finishing``.
    package var record: DownloadRecord {
        var record = finishing
        record.completed = completed ?? record.completed
        guard let ended else { return record }
        record.resume = record.resume.afterCompletion
        record.complete(at: ended)
        return record
    }

    /// The resume data of a whole file without a final name.
    package var resume: ResumeData {
        var resume = ResumeData()
        resume.total = size
        resume.validators = answer.validators
        resume.contentType = answer.contentType
        resume.finalURL = showsURL ? entry.url : nil
        resume.acceptsRanges = answer.acceptsRanges
        resume.file = identity
        resume.digest = answer.digest
        resume.verified = answer.digest.map { VerifiedChecksum($0, by: .server) }
        return resume
    }

    private var attempt: AttemptRecord {
        var attempt = AttemptRecord(started: began)
        attempt.ended = written
        attempt.received = size
        attempt.metrics = metrics
        attempt.outcome = AttemptRecord.completed
        return attempt
    }
}

/// The small files of one save.
package struct SmallFiles: Sendable {
    /// The files that have their final names.
    package var completed: [SmallFile] = []
    /// The files that are about to get their final names.
    package var finishing: [SmallFile] = []

    package init(completed: [SmallFile] = [], finishing: [SmallFile] = []) {
        self.completed = completed
        self.finishing = finishing
    }

    package var isEmpty: Bool { completed.isEmpty && finishing.isEmpty }
}

/// The end of a small file: it is complete, or another session owns it now.
package struct SmallFileEnd: Sendable {
    package let file: SmallFile
    package let failure: DownloadError?

    package init(_ file: SmallFile, failure: DownloadError? = nil) {
        self.file = file
        self.failure = failure
    }

    package var record: DownloadRecord {
        var record = file.record
        if let failure { record.state = .failed(failure) }
        return record
    }

    package var events: [DownloadEvent] {
        let end = DownloadSnapshot(record: record)
        return [
            .didStart(DownloadSnapshot(record: file.whole), atOffset: 0),
            failure.map { .didFail(end, $0) } ?? .didComplete(end),
        ]
    }
}
