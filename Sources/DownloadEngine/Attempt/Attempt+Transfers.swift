import DownloadCore
import DownloadSystem
import HTTPTypes

/// The methods that start transfers, and that decide which of their bytes stay in the file.
extension Attempt {
    /// Returns the receiver for the answer to a probe. The answer must meet the user's conditions
    /// (``ResponseValidation``). No other transfer runs at the same time.
    func makeProbe(_ judge: ResponseJudge, countedFrom: Int64, countedTo: Int64 = .max) -> SegmentWriter {
        var judge = judge
        judge.validation = record.request.validation
        return SegmentWriter(
            connection: 0, judge: judge, file: nil, countedFrom: countedFrom, countedTo: countedTo, disk: context.disk,
            control: control)
    }

    func add(_ segment: SegmentWriter, origin: String) {
        transfers.add(segment)
        control.began(LiveConnection(segment, origin: origin, at: context.time.now))
    }

    /// Starts the transfer of a segment.
    /// - Parameter address: The address of the server to connect to; nil for the one that the transport chooses.
    func start(
        _ segment: SegmentWriter, _ route: RequestRoute, at address: String? = nil,
        conditionalOn candidate: CompletedFile? = nil
    ) {
        add(segment, origin: route.url.origin)
        var request = request(for: segment, route, conditionalOn: candidate)
        if let address { request.options.network.connect(to: address, for: route.url) }
        segment.begin(context.transport, request)
    }

    private func request(
        for segment: SegmentWriter, _ route: RequestRoute, conditionalOn candidate: CompletedFile?
    ) -> TransferRequest {
        var request = context.requests.request(
            route, of: record.request, transfers.secrets, for: control,
            prefersMultiplexing: transfers.prefersMultiplexing)
        if let turned = request.options.network.turned(record.attempts.count - 1) { request.options.network = turned }
        let judge = segment.judge
        if judge.asksRange {
            // A request for the last bytes of the file does not name the end of the range. So if the server gave a
            // wrong size, it sends too many or too few bytes, and the error is found.
            let end = judge.end.flatMap { $0 == record.resume.total ? nil : "\($0 - 1)" }
            request.range = "\(judge.start)-\(end ?? "")"
            if let value = judge.known?.validators.ifRange { request.options.fields[.ifRange] = value }
        }
        if let candidate {
            request.options.fields[.ifNoneMatch] = candidate.validators.etag?.fieldValue
            request.options.fields[.ifModifiedSince] = candidate.validators.lastModified
        }
        return request
    }

    /// Opens the partial file of an earlier attempt.
    func reopen(_ name: String) async throws(DownloadError) -> PartialFile {
        let (folder, followsLinks) = (record.request.destination.folder, record.request.destination.followsLinks)
        return try await context.disk.onWriter { [time = context.time] () throws(DownloadError) in
            try PartialFile.open(folder: folder, name: name, mode: .reopen, followsLinks: followsLinks, time: time)
        }
    }

    /// Makes the file with the final name the partial file, in which the ranges `written` are right. The store gets the
    /// identity of the file before the rename. So if the process ends between the save and the rename, the next attempt
    /// finds the file under either name.
    func adopt(_ name: String, _ found: FileStatus.Info, written: ByteRanges) async throws(DownloadError) {
        try await saveIdentity(of: found, name, written: written)
        FaultPoint.reached("beforeAdopt")
        let (folder, followsLinks) = (record.request.destination.folder, record.request.destination.followsLinks)
        let file = try await context.disk.onWriter { () throws(DownloadError) in
            try PartialFile.adopt(folder: folder, name: name, found.identity, followsLinks: followsLinks)
        }
        FaultPoint.reached("afterAdopt")
        resume(in: file, written: written)
    }

    /// Saves which file has the ranges `written`.
    func saveIdentity(
        of found: FileStatus.Info, _ name: String, written: ByteRanges
    ) async throws(DownloadError) {
        record.fileName = name
        record.resume.file = found.identity
        record.resume.device = found.device
        record.resume.bootID = FileStatus.bootID
        record.resume.written = written
        try await save(durably: true)
    }

    /// Continues the download in a partial file that already has the ranges `written`.
    func resume(in file: PartialFile, written: ByteRanges, durable: ByteRanges = ByteRanges()) {
        if context.watchesWriters { file.watchWriters() }
        file.trust(written: written, durable: durable)
        local = LocalFile(file: file, inherited: written)
        show(received: written.count)
    }

    /// Starts to hash the file, if a checksum is expected. Bytes are hashed shortly after they were written.
    func startDigest() {
        guard local.digest == nil, let file = local.file, let expected = record.expected else { return }
        // If OpenSSL lacks the algorithm, `Verification` makes the digest again and reports the error.
        local.digest = try? FileDigest(of: file, checksum: expected.checksum, queue: context.disk.digests)
    }

    /// Starts the digest again from the first byte, because bytes that may have been hashed were given up.
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

    /// Returns the facts of an ended transfer. The body may be longer than its stated length if a digest proves the
    /// file, or if the user accepts an unverified file.
    func ended(_ segment: SegmentWriter, _ result: TransferResult, hasAll: Bool = false) -> EndedTransfer {
        let isProved = record.stated != nil || record.request.acceptsUnverified
        return segment.ended(result, hasAll: hasAll, excess: isProved ? nil : EndedTransfer.overlong)
    }

    /// Forgets the bytes of an ended transfer that cannot be trusted. Returns the offset where the trusted bytes end.
    func forgetDoubtful(of segment: SegmentWriter, _ result: TransferResult) async -> Int64 {
        let doubtful = segment.doubtful(after: ended(segment, result).ending)
        guard !doubtful.isEmpty else { return segment.position }
        guard local.file != nil else {
            context.stream?.isDoubted = true
            return segment.position
        }
        await context.disk.afterWrites()
        // Bytes of earlier attempts stay: they were compared with the answer, and are the same.
        forget(local.inherited.missing(in: doubtful))
        return doubtful.lowerBound
    }

    /// Records the digest of the file that followed the body of an answer.
    func learnDigest(of segment: SegmentWriter, _ result: TransferResult) throws(DownloadError) {
        guard let trailers = result.trailers, let head = segment.head, record.request.asksForDigest else { return }
        try record.learnDigest(fromTrailers: trailers, after: head)
    }

    /// Throws if nothing proves the end of the body. If only the closed connection marks the end, the body may have
    /// been cut off (RFC 9112 section 8). Over TLS, close_notify proves the end. Without TLS, a digest must prove the
    /// file.
    func requireKnownEnd(of answer: ProbeAnswer) throws(DownloadError) {
        let head = answer.head
        guard record.resume.total == nil, ResponseJudge.contentLength(head) == nil, head.httpVersion.hasPrefix("1"),
            answer.url.scheme == "http",
            head.fields.value(.transferEncoding)?.lowercased().hasSuffix("chunked") != true,
            record.stated == nil, !record.request.acceptsUnverified
        else { return }
        throw .verificationFailed(.endUnproved)
    }
}
