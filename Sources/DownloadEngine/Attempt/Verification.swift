import DownloadCore
import DownloadSystem

/// The step that compares files with their expected digests.
struct Verification: AttemptPhase {
    let attempt: Attempt

    /// Compares a partial file, whose bytes are all written, with the expected digest or with the digests of its
    /// pieces. Checks its signature, if the request asks for one.
    func verify(_ file: PartialFile, _ total: Int64) async throws {
        try await verifyDigest(of: file, total)
        if record.request.signedBy.isEmpty { return }
        guard let listed = try await signedDigest(of: "/proc/self/fd/\(file.descriptor)") else { return }
        record.resume.verified = listed
    }

    private func verifyDigest(of file: PartialFile, _ total: Int64) async throws {
        try await ProofSearch(attempt: attempt).wait()
        try requireProof()
        guard let expected = record.expected else {
            guard let wrong = try await forgetWrongPieces(of: file, total), !wrong.isEmpty else { return }
            throw DownloadError.verificationFailed(.wrongPieces(wrong.count))
        }
        let isForeign = file.isWrittenByOthers
        if isForeign {
            // Another program wrote to the file, so the bytes that were hashed may no longer be in it.
            attempt.local.digest = nil
            file.forgetOtherWriters()
        }
        let queue = context.disk.digests
        let digest = try attempt.local.digest ?? FileDigest(of: file, checksum: expected.checksum, queue: queue)
        do throws(DownloadError) {
            let isDone = try await digest.verify(total: total) { [control] in control.isStopping }
            if isDone {
                record.resume.verified = expected
                return
            }
        } catch {
            attempt.local.digest = nil
            // Without a digest, nothing proves a file that another program has written to.
            if expected.source == .server, !isForeign, try await ProofSearch(attempt: attempt).reconsider() {
                return try await verifyDigest(of: file, total)
            }
            if keepsOwnOnly(file) { throw error }
            if let wrong = try await forgetWrongPieces(of: file, total), !wrong.isEmpty { throw error }
            throw mismatch(error, expected)
        }
        throw RoundEnd.stopped
    }

    /// Throws if the user requires a digest that proves the file, and none is known.
    func requireProof() throws(DownloadError) {
        if record.request.proof == .require, record.request.signedBy.isEmpty,
            record.expected?.checksum.algorithm.isCRC != false, !record.hasPieces || context.stream != nil
        {
            throw .unproved
        }
    }

    /// Whether the request asks for a signature that is not known.
    private var needsSignature: Bool { !record.request.signedBy.isEmpty && record.resume.signature == nil }

    /// Whether documents are asked again that the session knows, because they may have been the reason of a failure.
    private var asksAgain: Bool {
        let earlier = record.attempts.dropLast().last
        return attempt.search.unsigned != nil || earlier != nil && earlier?.outcome != AttemptRecord.completed
    }

    /// Looks for a good signature of a file, and records it. Messages are handled meanwhile, so that a stop ends the
    /// programs.
    /// - Returns: The digest in the signed list; nil if the file itself is signed.
    @inline(never)
    private func signedDigest(of path: String) async throws -> VerifiedChecksum? {
        let check = try SignatureCheck(for: record, context.signatures)
        let (request, final, fresh) = (record.request, record.resume.finalURL, asksAgain)
        let task = Task { [context, control] in
            defer { control.send(.waitIsOver) }
            return await Self.result(of: check, path, context, control) {
                await context.proofs.document($0, like: request, redirectedTo: final, fresh: fresh).map(\.bytes)
            }
        }
        defer { task.cancel() }
        while true { if case .waitIsOver = try await attempt.nextMessage() { break } }
        switch await task.value {
        case .success(let signature):
            record.resume.signature = signature
            return signature.listed.map { VerifiedChecksum($0, by: .server) }
        case .failure(let error):
            if case .verificationFailed(.serverDigest(let listed, _)) = error { record.resume.mismatched = listed }
            throw error
        }
    }

    private static func result(
        of check: SignatureCheck, _ path: String, _ context: AttemptContext, _ control: AttemptControl,
        fetch: SignatureCheck.Fetch
    ) async -> Result<FileSignature, DownloadError> {
        var check = check
        do throws(DownloadError) {
            return .success(
                try await check.signature(
                    of: path, on: context.disk.digests, time: context.time, unless: { control.isStopping },
                    judge: { await Self.judge($0, context, $1) }, fetch: fetch))
        } catch {
            return .failure(error)
        }
    }

    /// Decides with what the store remembers about a folder, and records what is new before the file gets its name. If
    /// the store fails, a good signature still counts, and the user learns that nothing was compared.
    private static func judge(
        _ folder: String, _ context: AttemptContext,
        _ decide: @escaping @Sendable (SignerKnowledge?) -> SignerKnowledge.Verdict
    ) async -> SignerKnowledge.Verdict {
        var verdict = decide(nil)
        do {
            verdict = decide(try await context.store.knowledge(of: folder))
            if case .success(let accepted) = verdict, accepted.knowledge != nil {
                // Another download may have recorded something since.
                try await context.store.learn(of: folder) { try? decide($0).get().knowledge }
            }
        } catch {
            context.notice("\(folder): the signature is good, but the store cannot compare or remember it: \(error)")
        }
        return verdict
    }

    /// Records that the complete file does not match the checksum. Returns the error to report.
    func mismatch(_ error: DownloadError, _ expected: VerifiedChecksum) -> DownloadError {
        guard case .verificationFailed(.checksum(let checksum, let actual)) = error else { return error }
        record.resume.mismatched = checksum
        return expected.source == .user ? error : .verificationFailed(.serverDigest(expected: checksum, actual: actual))
    }

    /// Gives up the bytes of all sources except the first, so that they are fetched again from one source. The digest
    /// of the whole file does not show which source sent wrong bytes. Returns false if one source brought all bytes, or
    /// if only one source is used already.
    private func keepsOwnOnly(_ file: PartialFile) -> Bool {
        let sources = attempt.transfers.sources
        guard sources.isMixed, record.resume.sources?.isAlone != true else { return false }
        var others = ByteRanges()
        for member in sources.members.dropFirst() { others = others.union(member.brought) }
        file.forget(others)
        attempt.enterRanges()
        record.resume.changeSources { $0.beAlone() }
        return true
    }

    /// Forgets the pieces that do not match their digests, and returns their ranges. Returns nil if no digests are
    /// known, or if they do not fit the size of the file.
    private func forgetWrongPieces(of file: PartialFile, _ total: Int64) async throws -> ByteRanges? {
        guard let pieces = record.request.pieces, pieces.fits(size: total) else { return nil }
        let wrong = try await rightPieces(of: file.path, pieces, total: total).missing(in: 0..<total)
        file.forget(wrong)
        attempt.enterRanges()
        return wrong
    }

    /// Returns the ranges of those pieces of a file that match their digests. Throws ``RoundEnd/stopped`` if the
    /// session stops the attempt meanwhile, because a piece that was not hashed is neither right nor wrong.
    func rightPieces(of path: String, _ pieces: PieceHashes, total: Int64) async throws -> ByteRanges {
        let right = try await context.disk.digests.run { [control] () throws(DownloadError) in
            try PieceVerifier.right(in: path, pieces, total: total) { control.isStopping }
        }
        try attempt.obeyStop()
        return right
    }

    /// Hashes a file that an earlier run completed, if the request has a new checksum. If the file matches, the server
    /// is only asked whether the file is still current.
    @inline(never)
    func verifyCompleted() async throws {
        guard let completed = record.completed else { return }
        let asked = try? record.askedChecksum(of: completed.path)
        guard isToVerify(completed, asked), EarlierCompletion(of: record)?.unchanged != nil else { return }
        do {
            record.completed = try await verified(completed)
        } catch let error as DownloadError {
            if needsSignature { return try keepUnsigned(error) }
            guard case .verificationFailed = error else { return }
            if let asked { record.completed?.mismatched = asked }
        }
    }

    /// Handles a finished file without a good signature. It is fetched again only if the server has another version, or
    /// if a signed list has another digest.
    private func keepUnsigned(_ error: DownloadError) throws(DownloadError) {
        switch error {
        case .verificationFailed(.serverDigest): break
        case .verificationFailed(.unverifiable) where !record.request.keepsCompleted: attempt.search.unsigned = error
        default: throw error
        }
    }

    private func isToVerify(_ completed: CompletedFile, _ asked: Checksum?) -> Bool {
        guard let asked else { return needsSignature }
        if asked == completed.mismatched { return false }
        // If a digest of the same algorithm is known already, the file is not hashed again.
        return needsSignature || asked.algorithm != completed.checksum?.algorithm
    }

    /// Records a file that has its final name already, if it matches the checksum of the request.
    func complete(with file: CompletedFile) async throws {
        record.completed = try await verified(file)
        record.fileName = FileNaming.lastComponent(file.path)
        record.resume = record.resume.afterCompletion
        record.isFinishing = false
        attempt.show(received: file.bytes)
    }

    /// Verifies a file that has its final name already. The file may be from an attempt that was killed after the
    /// rename, from an earlier run, or from another program. It is not compared with the server's digest.
    @inline(never)
    func verified(_ file: CompletedFile) async throws -> CompletedFile {
        var file = file
        let isSigned = !record.request.signedBy.isEmpty
        // An earlier signature was of another file with this name.
        record.resume.signature = nil
        if isSigned, let listed = try await signedDigest(of: file.path) {
            file.checksum = listed.checksum
            file.verifiedBy = listed.source
        }
        let asked = try record.askedChecksum(of: file.path)
        if asked == nil, record.request.proof == .require, !isSigned, !file.isProved {
            throw DownloadError.unproved
        }
        guard let checksum = asked, checksum != file.checksum else { return file }
        let hash = try await FileHash.of(file.path, checksum.algorithm, on: context.disk.digests) {
            [control, deadline = attempt.deadline, time = context.time] in
            control.isStopping || deadline.map { time.now > $0 } ?? false
        }
        guard let hash else { throw control.isStopping ? RoundEnd.stopped : attempt.overdue as any Error }
        guard hash.digest == checksum.digest else {
            throw DownloadError.verificationFailed(.checksum(expected: checksum, actual: hash.digest))
        }
        file.checksum = checksum
        file.verifiedBy = .user
        return file
    }
}
