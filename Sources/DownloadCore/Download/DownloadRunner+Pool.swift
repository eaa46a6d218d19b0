import Foundation
import HTTPTypes

/// Parts of one file from several sources at the same time.
extension DownloadRunner {
    /// Only where something proves what each of them brings: a strong ETag that all have, the digest of the file, or
    /// those of its pieces (RFC 6249 section 5).
    func makePool(_ opening: Opening, _ head: ResponseHead) {
        pool = nil
        guard !record.request.mirrors.isEmpty, record.request.connections != 1, joint == nil, !opening.isWhole,
            head.status == 206, let file, let total = record.resume.total,
            record.resume.sources?.isAlone != true
        else { return }
        let pieces = record.request.pieces.flatMap { $0.fits(size: total) ? $0 : nil }
        guard pieces != nil || expected != nil || record.resume.validators.hasStrongTag else { return }
        let source = record.source
        let book = record.resume.sources ?? SourceBook()
        let others = record.request.sources.filter { $0 != source && !book.standing(of: $0.string).isFinal }
        guard !others.isEmpty else { return }
        pool = SourcePool(
            [source] + others, first: opening.scout.connection, route: opening.route,
            validators: record.resume.validators, for: record.request,
            upgradedBy: context.strictHosts)
        guard let pieces else { return }
        verifier = PieceVerifier(
            of: file, pieces, total: total, queue: context.disk.digests, unless: { [control] in control.isStopping },
            failed: { [control] in control.send(.pieceFailed($0)) })
        watchWrites(of: file)
    }

    /// Whatever follows the writes.
    func watchWrites(of file: PartialFile) {
        file.notifyWrites { [weak digest, weak verifier] in
            digest?.advance()
            verifier?.advance()
        }
    }

    func endPool() {
        pool?.leaveHosts()
        verifier?.abandon()
        verifier = nil
    }

    /// What the answers to a connection must be of.
    func version(for connection: Int) -> ResponseJudge.Version {
        guard let pool else { return version }
        let member = pool.members[pool.member(of: connection)]
        var known = version
        // Without digests the ETag is what proves it.
        let isProved = expected != nil || verifier != nil
        known.validators = member.validators ?? (isProved ? Validators() : record.resume.validators)
        return known
    }

    /// Decides what the end of a transfer of one of several sources means. A source that fails leaves the rest to the others.
    func handle(
        _ outcome: TransferOutcome, of segment: SegmentWriter, in pool: SourcePool, _ work: SegmentWork
    ) throws -> SegmentPlanner.Ending {
        let index = pool.member(of: segment.connection)
        noteBrought(by: segment, pool)
        switch outcome {
        case .complete:
            if let head = segment.head { pool.note(Validators(head: head, now: context.time.date), of: index) }
            return .complete
        case .cut: return .cut
        case .stopped: throw RoundEnd.stopped
        case .redirected(let location):
            do throws(DownloadError) {
                try pool.follow(segment.head?.status ?? 302, to: location, from: index, of: record.request)
                return .cut
            } catch {
                return try leave(index, error, isFinal: true, pool, work)
            }
        case .fileRefused:
            try requireWritten()
            return .lost
        case .lost(let error): return try leave(index, error, isFinal: false, pool, work)
        case .changed(let why):
            return try leave(index, .verificationFailed(.otherMirror(why)), isFinal: true, pool, work)
        case .failed(let error): return try leave(index, error, isFinal: true, pool, work)
        case .declined(let error):
            guard case .serverRefused(let status, _) = error, [429, 503].contains(status) else {
                return try leave(index, error, isFinal: true, pool, work)
            }
            let others = segments.count { pool.member(of: $0.connection) == index }
            if others == 0 { return try leave(index, error, isFinal: true, pool, work) }
            pool.refused(index, serving: others, at: context.time.date)
            pool.limit(index, to: others, without: segment.connection)
            return pool.hasRoom(beside: segments.map(\.connection)) ? .cut : .unfit
        }
    }

    private func leave(
        _ index: Int, _ error: DownloadError, isFinal: Bool, _ pool: SourcePool, _ work: SegmentWork
    ) throws -> SegmentPlanner.Ending {
        work.lastError = error
        if pool.fail(index, error.description, isFinal: isFinal) { noteLeft(index, pool) }
        if pool.usable == 0 { throw error }
        return .cut
    }

    private func noteLeft(_ index: Int, _ pool: SourcePool) {
        var book = record.resume.sources ?? SourceBook()
        let member = pool.members[index]
        book.change(member.url.string) { $0.failure = member.failure }
        record.resume.sources = book
    }

    private func noteBrought(by segment: SegmentWriter, _ pool: SourcePool) {
        let brought = segment.brought
        if !brought.isEmpty { pool.note(brought, from: pool.member(of: segment.connection)) }
    }

    // MARK: Pieces

    /// A piece is not what it should be: it is fetched again, and whoever brought it is asked no more.
    func redo(_ piece: Int, _ work: SegmentWork) throws {
        guard let pool, let verifier, let file, let pieces = record.request.pieces, let total = record.resume.total
        else {
            return
        }
        let range = pieces.range(piece, size: total)
        for segment in segments { noteBrought(by: segment, pool) }
        let guilty = pool.blame(piece, range)
        file.forget(ByteRanges([range]))
        control.add(received: -range.count)
        restartDigest(of: file)
        verifier.recheck(piece)
        for index in guilty { noteLeft(index, pool) }
        if pool.usable == 0 {
            throw DownloadError.verificationFailed(
                .unverifiable("no source has the piece at \(range.lowerBound) as it should be"))
        }
        for segment in segments where guilty.contains(pool.member(of: segment.connection)) {
            segment.shorten(to: segment.position)
        }
        work.planner.restore(range)
        try follow(.tick, work)
    }

    /// True once all that came is right.
    func piecesAreRight(_ work: SegmentWork) async throws -> Bool {
        guard let verifier else { return true }
        await context.disk.afterWrites()
        try await verifier.settle()
        try obeyStop()
        control.send(.delivered)
        var isRight = true
        while true {
            switch try await nextMessage() {
            case .delivered: return isRight
            case .pieceFailed(let piece):
                isRight = false
                try redo(piece, work)
            case .segmentFinished(let segment, let result): try await settle(segment, result, work)
            case .pulse: work.isPulseDue = false
            default: break
            }
        }
    }

    /// The file is not what it should be, and only the whole of it has a digest: what the other sources brought is
    /// fetched again from this one alone.
    func keepsOwnOnly(_ file: PartialFile) -> Bool {
        guard let pool, pool.isMixed, record.resume.sources?.isAlone != true else { return false }
        var others = ByteRanges()
        for member in pool.members.dropFirst() { others = others.union(member.brought) }
        file.forget(others)
        readFile()
        var book = record.resume.sources ?? SourceBook()
        book.beAlone()
        record.resume.sources = book
        return true
    }
}

extension Validators {
    /// One that names the same bytes on every server that has it (RFC 6249 section 5).
    var hasStrongTag: Bool { etag?.isWeak == false }
}
