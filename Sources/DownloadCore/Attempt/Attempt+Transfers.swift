import HTTPTypes

/// The begin of transfers, and the treatment of the bytes that they leave in the file.
extension Attempt {
    /// Returns the receiver of a first answer, which must meet the user's conditions. No other transfer runs at that
    /// time.
    /// - Parameters:
    ///   - countedFrom: The bytes before this offset are compared, and do not count as received.
    ///   - countedTo: The bytes from this offset on are compared, and do not count as received.
    func makeProbe(_ judge: ResponseJudge, countedFrom: Int64, countedTo: Int64 = .max) -> SegmentWriter {
        var judge = judge
        judge.validation = record.request.validation
        return SegmentWriter(
            connection: 0, judge: judge, file: nil, countedFrom: countedFrom, countedTo: countedTo, disk: context.disk,
            control: control)
    }

    func start(_ segment: SegmentWriter, _ route: RequestRoute, conditionalOn candidate: CompletedFile? = nil) {
        transfers.add(segment)
        segment.begin(context.transport, request(for: segment, route, conditionalOn: candidate))
    }

    private func request(
        for segment: SegmentWriter, _ route: RequestRoute, conditionalOn candidate: CompletedFile?
    ) -> TransferRequest {
        var request = context.request(
            route, of: record.request, transfers.secrets, for: control,
            prefersMultiplexing: transfers.prefersMultiplexing)
        if let turned = request.network.turned(record.attempts.count - 1) { request.network = turned }
        let judge = segment.judge
        if judge.asksRange {
            // The last range has no end, so that a server that gave a wrong size sends too many or too few bytes.
            let end = judge.end.flatMap { $0 == record.resume.total ? nil : "\($0 - 1)" }
            request.range = "\(judge.start)-\(end ?? "")"
            if let value = judge.known?.validators.ifRange { request.fields[.ifRange] = value }
        }
        if let candidate {
            request.fields[.ifNoneMatch] = candidate.validators.etag?.fieldValue
            request.fields[.ifModifiedSince] = candidate.validators.lastModified
        }
        return request
    }

    /// Continues in a file that has these ranges already.
    func resume(in file: PartialFile, written: ByteRanges, durable: ByteRanges = ByteRanges()) {
        if context.watchesWriters { file.watchWriters() }
        file.trust(written: written, durable: durable)
        local = LocalFile(file, inherited: written)
        show(received: written.count)
    }

    /// Begins to hash the written bytes, shortly after each write.
    func startDigest() {
        guard local.digest == nil, let file = local.file, let expected = record.expected else { return }
        local.digest = FileDigest(of: file, checksum: expected.checksum, queue: context.disk.digests)
    }

    /// Begins the digest again, because bytes that were hashed are no longer in the file.
    func restartDigest() {
        guard local.digest != nil else { return }
        local.digest = nil
        startDigest()
    }

    /// Gives up bytes in the file that cannot be trusted.
    func forget(_ ranges: ByteRanges) {
        local.file?.forget(ranges)
        control.add(received: -Int(ranges.count))
        restartDigest()
    }

    /// Returns the facts of an ended transfer. A body may exceed its length if a digest proves the file, or if the user
    /// accepts it unverified.
    func ended(_ segment: SegmentWriter, _ result: TransferResult, hasAll: Bool = false) -> EndedTransfer {
        let isProved = record.expected != nil || record.request.acceptsUnverified
        return segment.ended(result, hasAll: hasAll, excess: isProved ? nil : SegmentWriter.overlong)
    }

    /// Forgets the bytes of an ended transfer that cannot be trusted. Returns the offset up to which its bytes can be
    /// trusted.
    func forgetDoubtful(of segment: SegmentWriter, _ result: TransferResult) async -> Int64 {
        let doubtful = segment.doubtful(after: ended(segment, result).ending)
        if !doubtful.isEmpty { context.stream?.isDoubted = true }
        guard !doubtful.isEmpty, local.file != nil else { return segment.position }
        await context.disk.afterWrites()
        // Bytes of earlier attempts stay: they were compared with the answer, and are the same.
        forget(local.inherited.missing(in: doubtful))
        return doubtful.lowerBound
    }

    /// Throws if nothing proves the end of the body. A body that only the end of its connection ends may have been cut
    /// (RFC 9112 section 8). Over TLS, close_notify proves the end. Without TLS, a digest must prove the file.
    func requireKnownEnd(of answer: ProbeAnswer) throws(DownloadError) {
        let head = answer.head
        guard record.resume.total == nil, ResponseJudge.contentLength(head) == nil, head.httpVersion.hasPrefix("1"),
            answer.url.scheme == "http",
            head.fields.value(.transferEncoding)?.lowercased().hasSuffix("chunked") != true,
            record.expected == nil, !record.request.acceptsUnverified
        else { return }
        throw .verificationFailed(.endUnproved)
    }
}
