import DownloadCore
import HTTPTypes

/// A download to a stream instead of a file. Delivered bytes cannot be taken back, so it must be proved that the
/// following bytes have the same version. One connection writes to the stream itself. Several connections write to a
/// spool, as to the partial file of another download, and a pump takes the bytes out of the spool in order.
struct StreamDelivery: AttemptPhase {
    let attempt: Attempt
    let probe: Probe
    let stream: StreamOutput

    @inline(never)
    func run() async throws {
        if record.request.url.known == .file {
            return try await LocalCopy(attempt: attempt, probe: probe).send(to: self)
        }
        if let pump = stream.pump { attempt.local = LocalFile(file: pump.file, inherited: pump.file.written) }
        try await deliver()
        try attempt.saveCookies()
    }

    private func deliver() async throws {
        do {
            var budget = RequestBudget(limit: RequestBudget.limit(retries: record.request.retry.limit))
            while !budget.isExhausted {
                recordBytes()
                let before = record.received
                if try await sendPart() { return try complete() }
                recordBytes()
                budget.ended(brought: record.received - before, of: .max)
            }
        } catch RoundEnd.changed(let why) {
            throw DownloadError.verificationFailed(.streamBroken(why))
        }
        throw TransferOutcome.tooShort
    }

    private func recordBytes() { if file == nil { attempt.recordDelivered(stream) } else { attempt.enterRanges() } }

    /// Sends the answer of one request to the stream, or what several connections bring after this answer.
    /// - Returns: Whether the whole file is delivered. False if the server sent less than was requested.
    private func sendPart() async throws -> Bool {
        try await awaitRoom()
        guard let answer = try await probe.run() else { throw DownloadError.unexpected("a stream without an answer") }
        if case .newVersion(_, let why)? = answer.segment.verdict, !record.resume.written.isEmpty {
            throw RoundEnd.changed(why: why)
        }
        let isFirst = stream.written == 0 && stream.pump == nil
        try probe.learn(from: answer)
        if isFirst { try beginDigest(answer.head) }
        if let total = record.resume.total, total < stream.written { throw isSmaller(total) }
        control.show(record)
        context.announce(.didStart(DownloadSnapshot(record: record), atOffset: stream.written))
        if let pump = pump(for: answer) { return try await send(answer, through: pump) }
        if stream.pump != nil {
            // The spool has bytes before those of this answer, which is given up and requested again.
            await attempt.endTransfers()
            try await leaveSpool()
            return false
        }
        answer.segment.attach(stream)
        attempt.transfers.probe = nil
        let result = try await attempt.end(of: answer)
        _ = await attempt.forgetDoubtful(of: answer.segment, result)
        try await attempt.deliverAll()
        attempt.recordDelivered(stream)
        try requireSent(answer.segment, result)
        try attempt.requireKnownEnd(of: answer)
        let total = record.resume.total ?? answer.segment.position
        if stream.written > total { throw isSmaller(total) }
        if stream.isDoubted {
            throw RoundEnd.changed(why: "the server did not send all written bytes again to compare them")
        }
        record.resume.total = total
        return stream.written == total
    }

    /// Waits until the reader has made room in the spool for the answer to the next request.
    private func awaitRoom() async throws {
        while let pump = stream.pump, pump.file.isFull, !pump.file.isDrained {
            if let failure = stream.failure { throw failure }
            if pump.file.failure != nil { return try await leaveSpool() }
            let moved: @Sendable () -> Void = { [control] in control.send(.moved) }
            pump.drain(moved, done: moved)
            while true { if case .moved = try await attempt.nextMessage() { break } }
        }
    }

    /// Returns the pump for several connections. Nil if one connection brings all bytes: if the user wants one, if the
    /// file is small, or if it is not certain that all connections fetch the same version.
    private func pump(for answer: ProbeAnswer) -> StreamPump? {
        let fields = answer.head.fields
        guard record.request.connections != 1, record.request.mirrors.isEmpty, answer.url.isHTTP,
            record.resume.acceptsRanges, record.resume.validators.ifRange != nil, !fields.has(.trailer),
            SegmentWriter.hasLength(answer.head), let total = record.resume.total, total >= ConnectionRamp.leastSize
        else { return nil }
        return stream.pump ?? (stream.written == 0 ? stream.openSpool(for: total) : nil)
    }

    /// Fetches the rest of the file over several connections. If their parts turn out to be unusable, only the parts are
    /// lost: one connection brings what follows the bytes that are proved.
    /// - Returns: Whether the whole file is delivered.
    private func send(_ answer: ProbeAnswer, through pump: StreamPump) async throws -> Bool {
        if file == nil { attempt.local = LocalFile(file: pump.file) }
        pump.follow { [control] in control.send(.moved) }
        do {
            try await Fetch.begin(attempt, answer).run()
            try await drain(pump)
            return stream.written == record.resume.total
        } catch {
            guard endsOnlyParts(error, pump) else { throw error }
            // The bytes that the reader has not taken yet come again over one connection.
            if case .partsUnusable? = error as? RoundEnd { pump.file.forgetUntaken() }
        }
        await attempt.endTransfers()
        try await leaveSpool()
        return false
    }

    /// Whether one connection without a spool can go on after this error: the parts are unusable, or the disk of the
    /// spool is full or failing.
    private func endsOnlyParts(_ error: any Error, _ pump: StreamPump) -> Bool {
        switch error as? RoundEnd {
        case .changed, .stopped: false
        case .misplaced, .partsUnusable: true
        case nil: pump.file.hasFailedDisk && error as? DownloadError == pump.file.failure
        }
    }

    /// Delivers the bytes of the spool up to the first gap, and gives up the others.
    private func leaveSpool() async throws {
        guard let pump = stream.pump else { return }
        do {
            try await drain(pump)
        } catch {
            guard stream.failure == nil, pump.file.hasFailedDisk else { throw error }
        }
        stream.closeSpool()
        attempt.local = LocalFile()
        attempt.recordDelivered(stream)
    }

    private func drain(_ pump: StreamPump) async throws {
        pump.drain { [control] in control.send(.delivered) }
        try await attempt.awaitDelivered()
        if let failure = stream.failure ?? pump.file.failure { throw failure }
    }

    private func isSmaller(_ total: Int64) -> RoundEnd { .changed(why: "its size is now \(total)") }

    private func requireSent(_ segment: SegmentWriter, _ result: TransferResult) throws {
        if let failure = stream.failure { throw failure }
        if stream.differs { throw RoundEnd.changed(why: "its bytes differ from the bytes already written") }
        let hasAll = stream.written == record.resume.total
        if let error = attempt.ended(segment, result, hasAll: hasAll).outcome.error { throw error }
    }

    /// Starts to hash the delivered bytes, if a checksum is expected or no validator proves the version. Without a
    /// validator, only a digest can prove that bytes which are sent again are the same.
    private func beginDigest(_ head: ResponseHead) throws(DownloadError) {
        if let expected = record.expected { return try stream.beginDigest(expected.checksum.algorithm) }
        let isChunked = head.fields.value(.transferEncoding) != nil
        let isProved = head.status == 206 && record.resume.validators.ifRange != nil && !isChunked
        // The trailer may state a digest.
        if !isProved || head.fields.has(.trailer) { try stream.beginDigest(.sha256) }
    }

    func complete() throws(DownloadError) {
        stream.closeSpool()
        control.show(received: stream.written)
        control.show(total: stream.written)
        try Verification(attempt: attempt).requireProof()
        if let expected = record.expected {
            guard let actual = try stream.checksum else { throw .unexpected("the stream has no digest") }
            // The digest in a trailer may be of another algorithm than the one with which the bytes were hashed.
            if actual.algorithm == expected.checksum.algorithm {
                guard actual == expected.checksum else {
                    throw Verification(attempt: attempt).mismatch(
                        .verificationFailed(.checksum(expected: expected.checksum, actual: actual.digest)), expected)
                }
                record.resume.verified = expected
            } else if record.request.proof == .require {
                throw .unproved
            }
        }
        record.completed = CompletedFile(
            path: CompletedFile.streamPath, bytes: stream.written, identity: FileIdentity(inode: 0, born: nil),
            modified: 0,
            validators: record.resume.validators, checksum: record.resume.verified?.checksum,
            verifiedBy: record.resume.verified?.source)
        record.resume = record.resume.afterCompletion
    }
}
