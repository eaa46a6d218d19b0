import Foundation
import HTTPTypes

/// What the file must hash to, and whether it does.
extension DownloadRunner {
    /// The checksum asked for, or else the server's digest of this version.
    var expected: VerifiedChecksum? {
        record.request.checksum.map { VerifiedChecksum($0, by: .user) }
            ?? record.resume.digest.map { VerifiedChecksum($0, by: .server) }
    }

    /// With a checksum of the user's nothing depends on what a server says, right or wrong.
    var asksForDigest: Bool { record.request.checksum == nil }

    /// What the first answer says of the file's digest; for a list of checksums, of its name.
    func noteDigest(_ head: ResponseHead, _ url: SourceURL) throws(DownloadError) {
        if record.request.checksums != nil {
            let field = disposition(head)
            let disposition = field.flatMap { ContentDisposition(fieldValue: $0) }
            if disposition?.fileName != nil {
                record.resume.servedName = FileNaming.name(contentDisposition: field, url: url)
            }
            try findListedChecksum()
        }
        let digest = ServerDigest.checksum(of: head)
        // One that comes with a later answer is as good: that answer was found to be of the same version, and if it was
        // not, this is what tells.
        // So is one that the URL told before a mirror is asked: that is what the mirror has to prove.
        let isAnew = record.resume.written.isEmpty && !isMirror
        record.resume.digest = isAnew ? digest : record.resume.digest ?? digest
    }

    /// Looks the checksum up in the list that came with the request, by the names that the server gave.
    func findListedChecksum() throws(DownloadError) {
        record.request.checksum = try askedChecksum(of: record.fileName)
    }

    /// The checksum that the user gave, or that is listed for the file; nil when neither was given.
    /// - Parameter name: of the file here.
    func askedChecksum(of name: String?) throws(DownloadError) -> Checksum? {
        if let checksum = record.request.checksum { return checksum }
        let names = [record.resume.servedName, record.resume.finalURL.map(ChecksumList.path), name]
        return try record.request.checksums?.checksum(forFirstOf: names.compactMap(\.self))
    }

    /// A file that is here already was found to hash to what is asked for, if anything is.
    func isVerified(_ completed: CompletedFile) -> Bool {
        do throws(DownloadError) {
            let checksum = try askedChecksum(of: completed.path)
            return checksum == nil || checksum == completed.checksum
        } catch {
            // Not listed, or twice: the new answer decides.
            return false
        }
    }

    /// Hashes what is written, a little behind.
    func startDigest(_ file: PartialFile) {
        guard digest == nil, let expected else { return }
        digest = FileDigest(of: file, checksum: expected.checksum, queue: context.disk.digests)
        watchWrites(of: file)
    }

    /// Something of what was hashed is there no more.
    func restartDigest(of file: PartialFile) {
        guard digest != nil else { return }
        digest?.abandon()
        digest = nil
        startDigest(file)
    }

    /// All bytes are here: they must hash to what is expected.
    func verify(_ file: PartialFile, _ total: Int64) async throws {
        guard let expected else {
            guard let wrong = try await forgetWrongPieces(of: file, total), !wrong.isEmpty else { return }
            throw DownloadError.verificationFailed(.wrongPieces(wrong.count))
        }
        if file.isWrittenByOthers {
            // What was hashed may be there no more.
            digest?.abandon()
            digest = nil
            file.forgetOtherWriters()
        }
        let digest = digest ?? FileDigest(of: file, checksum: expected.checksum, queue: context.disk.digests)
        guard let digest else {
            throw DownloadError.unexpected("OpenSSL here has no \(expected.checksum.algorithm.rawValue)")
        }
        do throws(DownloadError) {
            let isDone = try await digest.verify(total: total) { [control] in control.isStopping }
            if isDone {
                record.resume.verified = expected
                return
            }
        } catch {
            self.digest = nil
            if keepsOwnOnly(file) { throw error }
            if let wrong = try await forgetWrongPieces(of: file, total), !wrong.isEmpty { throw error }
            throw mismatch(error, expected)
        }
        throw RoundEnd.stopped
    }

    func mismatch(_ error: DownloadError, _ expected: VerifiedChecksum) -> DownloadError {
        guard case .verificationFailed(.checksum(let checksum, let actual)) = error else { return error }
        record.resume.mismatched = checksum
        return expected.source == .user ? error : .verificationFailed(.serverDigest(expected: checksum, actual: actual))
    }

    /// What an earlier run left may be what is asked for by its checksum now: then the server only has to say that it is
    /// current. Else, and where it cannot be read, the rule for a name that is taken decides.
    func verifyCompleted() async throws {
        guard let completed = record.completed, let asked = try? askedChecksum(of: completed.path),
            // Of the same algorithm its digest is known already.
            asked.algorithm != completed.checksum?.algorithm, asked != completed.mismatched, unchangedCompletion != nil
        else { return }
        do {
            record.completed = try await verified(completed)
        } catch let error as DownloadError {
            guard case .verificationFailed = error else { return }
            record.completed?.mismatched = asked
        }
    }

    /// A file that has its final name already, from an attempt that was cut off behind the rename, from an earlier run or
    /// from somebody else: it must hash to what is asked for now. A server's digest is not asked for it.
    func verified(_ file: CompletedFile) async throws -> CompletedFile {
        guard let checksum = try askedChecksum(of: file.path), checksum != file.checksum else { return file }
        let (path, queue) = (file.path, context.disk.digests)
        let hash = try await FileHash.of(path, checksum.algorithm, on: queue) {
            [control, deadline, time = context.time] in
            control.isStopping || deadline.map { time.now > $0 } ?? false
        }
        guard let hash else { throw control.isStopping ? RoundEnd.stopped : overdue as any Error }
        guard hash.digest == checksum.digest else {
            throw DownloadError.verificationFailed(.checksum(expected: checksum, actual: hash.digest))
        }
        var verified = file
        verified.checksum = checksum
        verified.verifiedBy = .user
        return verified
    }
}
