import Foundation
import HTTPTypes

/// A download that goes to a stream and not to a file: in order, over one connection. What went out cannot be taken back,
/// so what follows it must prove to be of the same version.
extension DownloadRunner {
    func send(to stream: StreamOutput) async throws {
        do {
            var budget = RequestBudget(limit: RequestBudget.limit(retries: record.request.retry.limit))
            while !budget.isExhausted {
                noteDelivered(stream)
                let before = stream.written
                if try await sendPart(to: stream) { return try complete(stream) }
                budget.ended(brought: stream.written - before, of: .max)
            }
        } catch RoundEnd.changed(let why) {
            throw DownloadError.verificationFailed(.streamBroken(why))
        }
        throw Self.tooShort
    }

    /// True once all of it went out; false when the server sent less than was asked for.
    private func sendPart(to stream: StreamOutput) async throws -> Bool {
        guard let opening = try await openScout(), let head = opening.scout.head else {
            throw DownloadError.unexpected("a stream without an answer")
        }
        if case .newVersion(_, let why)? = opening.scout.verdict, stream.written > 0 {
            throw RoundEnd.changed(why: why)
        }
        let isFirst = stream.written == 0
        try note(head, opening)
        if isFirst { try beginDigest(stream, head) }
        if let total = record.resume.total, total < stream.written {
            throw RoundEnd.changed(why: "its size is now \(total)")
        }
        control.show(record)
        context.announce(.didStart(DownloadSnapshot(record: record), atOffset: stream.written))
        opening.scout.attach(stream)
        opener = nil
        let result = try await end(of: opening)
        _ = await forgetDoubtful(of: opening.scout, result)
        try await awaitDelivery()
        noteDelivered(stream)
        try requireSent(opening.scout, result, stream)
        try requireKnownEnd(of: head, opening)
        let total = record.resume.total ?? opening.scout.position
        if stream.written > total { throw RoundEnd.changed(why: "its size is now \(total)") }
        if stream.isDoubted { throw RoundEnd.changed(why: "not all of it came again") }
        record.resume.total = total
        return stream.written == total
    }

    /// Waits for the end of its only transfer.
    func end(of opening: Opening) async throws -> TransferResult {
        if let result = opening.result { return result }
        while true {
            if case .segmentFinished(let segment, let result) = try await nextMessage(), segment === opening.scout {
                return result
            }
        }
    }

    private func requireSent(_ scout: SegmentWriter, _ result: TransferResult, _ stream: StreamOutput) throws {
        if let failure = stream.failure { throw failure }
        if stream.differs { throw RoundEnd.changed(why: "its bytes differ from those that went out") }
        let hasAll = stream.written == record.resume.total
        if let error = ended(scout, result, hasAll: hasAll).outcome.error { throw error }
    }

    /// What was asked for must be what went out; what cannot be proved by a validator is proved by a digest.
    private func beginDigest(_ stream: StreamOutput, _ head: ResponseHead) throws(DownloadError) {
        if let expected { return try stream.beginDigest(expected.checksum.algorithm) }
        let isChunked = head.fields.value(.transferEncoding) != nil
        let isProved = head.status == 206 && record.resume.validators.ifRange != nil && !isChunked
        if !isProved { try stream.beginDigest(.sha256) }
    }

    /// Nothing of it is a file: the record tells what went out.
    func noteDelivered(_ stream: StreamOutput) {
        let count = stream.written
        record.resume.written = count > 0 ? ByteRanges([0..<count]) : ByteRanges()
        noteReceived()
    }

    func complete(_ stream: StreamOutput) throws(DownloadError) {
        control.show(received: stream.written)
        control.show(total: stream.written)
        if let expected {
            guard let actual = stream.checksum else { throw .unexpected("the digest failed") }
            guard actual == expected.checksum else {
                throw mismatch(
                    .verificationFailed(.checksum(expected: expected.checksum, actual: actual.digest)), expected)
            }
            record.resume.verified = expected
        }
        record.completed = CompletedFile(
            path: StreamOutput.name, bytes: stream.written, identity: FileIdentity(inode: 0, born: nil), modified: 0,
            validators: record.resume.validators, checksum: record.resume.verified?.checksum,
            verifiedBy: record.resume.verified?.source)
        record.resume = record.resume.afterCompletion
    }

    /// From where it goes on: behind what went out where a validator proves the version; a little before where the
    /// checksum at the end, or the user, makes that enough; else from the first byte, to compare all.
    func makeStreamScout(_ stream: StreamOutput, asksRange: Bool) throws(DownloadError) -> SegmentWriter {
        let count = stream.written
        var judge = ResponseJudge(start: 0, end: nil, asksRange: asksRange)
        if count > 0 {
            let mayJoin = mayJoinParts && (!stream.isDoubted || expected != nil)
            if mayJoin, record.resume.acceptsRanges, record.request.asksRanges {
                let isProved = record.resume.validators.ifRange != nil
                judge = ResponseJudge(
                    start: max(0, count - (isProved ? Overlap.resumed : StreamOutput.tailSize)), end: nil,
                    asksRange: true,
                    known: version)
            } else if stream.canCompareAll {
                judge.asksRange = false
            } else {
                throw .verificationFailed(.streamBroken("nothing proves that the rest is of the same version"))
            }
        }
        judge.validation = record.request.validation
        let connection = nextConnection
        nextConnection += 1
        return SegmentWriter(
            connection: connection, judge: judge, file: nil, countedFrom: count, disk: context.disk, control: control)
    }
}
