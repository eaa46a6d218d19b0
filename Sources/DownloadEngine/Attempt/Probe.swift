import DownloadCore
import DownloadSystem

/// The first request of an attempt. The head of its answer gives the size, the validators and the name of the file, and
/// shows whether the server sends parts. The body is the beginning of the file, or, if the download is resumed, a
/// missing part of it.
final class Probe: AttemptPhase {
    private enum Step {
        /// Another request follows, for example after a redirect.
        case ask
        /// The answer is given up, and another request asks for the file in another way.
        case askAgain
        case keepCurrent
        case open(ProbeAnswer)
        /// The answer is a Metalink document, which names the URLs of the file.
        case followMetalink
    }

    let attempt: Attempt
    private let description: FileDescription
    private var route: RequestRoute
    private var asksRange = true
    /// A complete file on disk that may be the same as the server's file.
    private var candidate: CompletedFile?
    /// A transfer that was begun before the attempt (``SmallFileAttempt``); nil after its answer was read.
    private var begun: SegmentWriter?
    /// Whether the whole file is requested in one answer, because nothing proves that its parts belong to one version.
    private var asksWhole = false
    /// The end of a file under the final name that is compared with the server's file.
    private var compared: Range<Int64>?

    init(_ attempt: Attempt, begun: SegmentWriter?) {
        self.attempt = attempt
        self.begun = begun
        description = FileDescription(attempt)
        route = RequestRoute(attempt.record.source)
        guard let begun else { return }
        attempt.transfers.probe = begun
        attempt.add(begun, origin: route.url.origin)
    }

    /// Whether a transfer began before the attempt and its answer has not been read yet.
    var isBegun: Bool { begun != nil }

    /// Sends requests until an answer brings bytes of the file. Follows redirects, and asks without a range if the
    /// server refuses a range.
    /// - Returns: The answer, or nil if there is nothing to fetch because the file on disk is current.
    func run() async throws -> ProbeAnswer? {
        prepare()
        while true {
            switch try await nextStep(after: try begin()) {
            case .ask: continue
            case .askAgain:
                await attempt.endTransfers()
                try attempt.obeyStop()
            case .keepCurrent:
                try keepCandidate()
                return nil
            case .open(let answer):
                if let url = description.documentToRead() { try await description.read(url, before: answer) }
                return answer
            case .followMetalink:
                try await MetalinkAnswer(attempt: attempt).follow()
                if keepsDescribed() { return nil }
            }
        }
    }

    /// Requests the bytes of a range, to compare them with the end of a file on disk that may be the beginning of the
    /// server's file.
    func run(comparing range: Range<Int64>) async throws -> ProbeAnswer? {
        compared = range
        defer { compared = nil }
        return try await run()
    }

    @inline(never)
    private func prepare() {
        attempt.beginSourceCheck()
        attempt.transfers.sources = SourcePool(record.source)
        route = routeToSource
        asksRange = record.request.asksRanges && !attempt.distrustsRanges
        candidate = attempt.candidate
    }

    private var routeToSource: RequestRoute {
        RequestRoute(record.source, of: record.request, upgradedBy: context.strictHosts)
    }

    @inline(never)
    private func keepCandidate() throws(DownloadError) {
        if let error = attempt.search.unsigned { throw error }
        if record.resume.written.isEmpty { record.keepCurrent(candidate) }
    }

    /// Returns whether the file that the Metalink document describes is on disk and current. Otherwise the file is
    /// requested next.
    @inline(never)
    private func keepsDescribed() -> Bool {
        if record.request.checksum != nil, let current = EarlierCompletion(of: record)?.current {
            record.keepCurrent(current)
            return true
        }
        candidate = nil
        route = routeToSource
        return false
    }

    @inline(never)
    private func begin() throws -> SegmentWriter {
        if let begun {
            self.begun = nil
            return begun
        }
        let segment = try makeSegment(asksRange: asksRange, isConditional: candidate != nil)
        attempt.transfers.probe = segment
        attempt.start(segment, route, conditionalOn: candidate)
        return segment
    }

    /// Waits until the transfer needs a file for its bytes, or has ended. Returns the step that follows its answer.
    private func nextStep(after segment: SegmentWriter) async throws -> Step {
        while true { if let step = try step(after: segment, try await attempt.nextMessage()) { return step } }
    }

    /// Returns the step that follows the message, or nil if the message is not about the transfer.
    @inline(never)
    private func step(after segment: SegmentWriter, _ message: AttemptControl.Message) throws -> Step? {
        switch message {
        case .segmentNeedsFile(let opened) where opened === segment: try judge(segment, nil)
        case .segmentFinished(let finished, let result) where finished === segment: try judge(segment, result)
        default: nil
        }
    }

    private func judge(_ segment: SegmentWriter, _ result: TransferResult?) throws -> Step {
        guard let head = segment.head, let verdict = segment.verdict else {
            throw result.flatMap { attempt.ended(segment, $0).outcome.error } ?? RoundEnd.stopped
        }
        observe(head, of: segment)
        if attempt.comparesInstead(of: verdict) { return .askAgain }
        switch verdict {
        case .redirect(let location):
            let location = context.strictHosts?.upgraded(location: location, for: record.request) ?? location
            try route.follow(head.status, to: location, of: record.request)
            record.lastAttempt.redirects = route.hops
            return .ask
        case .askWithoutRange where asksRange:
            asksRange = false
            return .ask
        case .askWithoutRange:
            throw DownloadError.protocolViolated(
                .malformedReply("the server sends no file, with or without a range in the request"))
        case .failed(let error) where asksRange && compared == nil && error.isWrongRange:
            // The bytes on disk are compared with the answer to a request without a range.
            (asksRange, attempt.partsError) = (false, error)
            attempt.distrustsTotal = ContentRange.exceedsTotal(head)
            return .askAgain
        case .current: return .keepCurrent
        case .failed(let error): throw error
        case .changed(let why): throw attempt.partsError ?? RoundEnd.changed(why: why)
        case .newVersion:
            if let error = attempt.partsError { throw error }
            return step(after: segment, head, verdict, result)
        case .body(_, _, let total):
            // A file that is shorter than the bytes on disk is not the same file.
            if attempt.distrustsTotal, let error = attempt.partsError, let total, total < record.resume.written.end {
                throw error
            }
            return step(after: segment, head, verdict, result)
        }
    }

    /// Returns the step that follows an answer with bytes of the file.
    private func step(
        after segment: SegmentWriter, _ head: ResponseHead, _ verdict: ResponseJudge.Verdict, _ result: TransferResult?
    ) -> Step {
        if MetalinkAnswer(attempt: attempt).isAnswered(by: head) { return .followMetalink }
        if let candidate,
            candidate.isSame(as: head, verdict, now: context.time.date)
        {
            return .keepCurrent
        }
        if wantsOwnConnection(verdict), result == nil {
            attempt.transfers.prefersMultiplexing = false
            return .askAgain
        }
        if !asksWhole, compared == nil, isFirstOfUnprovenParts(head, verdict) {
            asksWhole = true
            return .askAgain
        }
        return .open(ProbeAnswer(segment: segment, head: head, route: route, result: result))
    }

    private func observe(_ head: ResponseHead, of segment: SegmentWriter) {
        let url = route.url
        context.strictHosts?.learn(head, url, of: record.request)
        attempt.transfers.secrets.learn(head.cookies)
        segment.learnedCookies = head.cookies?.lines
        attempt.serverPause = ServerPause(head, url, now: context.time.date)
        description.observe(head, from: url)
    }

    /// Returns whether a large file needs a connection of its own. A shared HTTP/2 connection has one flow-control
    /// window for all its transfers, and libcurl keeps bytes in memory if they come while the disk is busy.
    private func wantsOwnConnection(_ verdict: ResponseJudge.Verdict) -> Bool {
        let request = record.request
        return request.multiplexes(byDefault: attempt.transfers.prefersMultiplexing) && request.asksRanges
            && request.network.httpVersion != .http2 && verdict.total ?? 0 > Self.largestOnSharedConnection
    }

    /// The size in bytes above which a file needs a connection of its own.
    private static let largestOnSharedConnection: Int64 = 4 << 20

    /// Returns whether the answer is a part of the file to which no other part can be joined. The whole file is then
    /// requested in one answer.
    private func isFirstOfUnprovenParts(_ head: ResponseHead, _ verdict: ResponseJudge.Verdict) -> Bool {
        guard record.resume.written.isEmpty, case .body(_, let end?, let total?) = verdict, end < total else {
            return false
        }
        return !attempt.mayJoinParts && Validators(head: head, now: context.time.date).ifRange == nil
            && (!record.request.asksForDigest || ServerDigest.checksum(of: head) == nil)
    }
}

extension Probe {
    /// Enters the facts about the file in the answer into the record.
    @inline(never)
    func learn(from answer: ProbeAnswer) throws(DownloadError) {
        let (head, total) = (answer.head, answer.segment.verdict?.total)
        if record.resume.written.isEmpty {
            // A digest beside the file was of the version that the earlier bytes had.
            (record.resume.proof, record.resume.signature) = (nil, nil)
            attempt.search.forget()
            record.resume.total = total
            record.resume.validators = Validators(head: head, now: context.time.date)
            record.resume.contentType = ResponseJudge.mediaType(head)
            record.resume.contentEncoding = ResponseJudge.contentEncoding(head)
        } else {
            // The record keeps the validators of the bytes on disk. Newer validators prove nothing about these bytes.
            record.resume.total = total ?? record.resume.total
        }
        // The URL is only shown, and never requested again. A URL that contains a secret is not kept.
        record.resume.finalURL = attempt.requestSecrets.occur(in: answer.url) ? nil : answer.url
        record.resume.acceptsRanges = head.status == 206 && answer.segment.judge.asksRange
        try record.requireSize(total)
        attempt.recordSource(answer)
        try record.learnDigest(from: head, answer.url)
        description.apply()
        control.show(total: record.resume.total)
        announceComparison(with: answer)
    }

    /// Announces that the bytes on disk are fetched again and compared, because nothing proves their version. They are
    /// dropped only if they differ.
    private func announceComparison(with answer: ProbeAnswer) {
        guard case .body? = answer.segment.verdict, answer.segment.judge.start == 0, !record.resume.written.isEmpty,
            context.stream == nil, !attempt.distrustsRanges
        else { return }
        attempt.announceRestart(record.request.asksRanges ? .versionUnproved : .partsUnavailable)
    }

    /// The length in bytes of the first range if several connections are wanted. It is short, so that the first answer
    /// need not be cut off.
    static let firstLease: Int64 = 4 << 20

    /// Returns the receiver for the answer to the next probe, with the range to request.
    func makeSegment(asksRange: Bool, isConditional: Bool) throws(DownloadError) -> SegmentWriter {
        if let stream = context.stream, stream.written > 0, file == nil { return try makeSegment(after: stream) }
        if let compared {
            let judge = ResponseJudge(start: compared.lowerBound, end: compared.upperBound, asksRange: asksRange)
            return attempt.makeProbe(judge, countedFrom: compared.upperBound)
        }
        let resume = record.resume
        let hasData = !resume.written.isEmpty
        let gap = resume.total.map { resume.written.missing(in: 0..<$0) }?.ranges.first
        let start = gap?.lowerBound ?? resume.written.prefix
        var end = gap.flatMap { gap in gap.upperBound == resume.total ? nil : gap.upperBound }
        var countedTo = Int64.max
        var askedStart = Overlap.start(
            before: start, held: file?.written ?? ByteRanges(), size: attempt.overlapSize)
        let comparesAll = hasData && (!attempt.mayResume || !asksRange || attempt.sourceCheck?.way == .compared)
        if comparesAll {
            askedStart = 0
            end = nil
            control.show(received: 0)
        } else if record.request.connections.number > 1, asksRange, !asksWhole, record.request.url.isHTTP {
            let lease = start + (hasData ? SegmentPlanner.leaseSize : Self.firstLease)
            if lease < (gap?.upperBound ?? .max) { end = lease }
        }
        if let wanted = end, let file {
            countedTo = wanted
            end = Overlap.end(after: wanted, held: file.written)
        }
        // Only one byte is requested. So a server that ignores the condition does not send the whole file again.
        if isConditional { end = start + 1 }
        var judge = ResponseJudge(
            start: askedStart, end: end, asksRange: asksRange, known: hasData ? attempt.version : nil)
        judge.isConditional = isConditional
        return attempt.makeProbe(judge, countedFrom: comparesAll ? 0 : start, countedTo: countedTo)
    }

    /// Returns the receiver of the next answer for a stream. If a validator proves the version, the request begins a
    /// little before the end of the delivered bytes. If only the checksum of the file or the user's consent allows a
    /// join, the request begins ``StreamOutput/tailSize`` bytes before that end. Otherwise it begins with the first
    /// byte, so that all bytes are compared.
    private func makeSegment(after stream: StreamOutput) throws(DownloadError) -> SegmentWriter {
        let count = stream.written
        var judge = ResponseJudge(start: 0, end: nil, asksRange: false)
        let mayJoin = attempt.mayJoinParts && (!stream.isDoubted || record.stated != nil)
        if mayJoin, record.resume.acceptsRanges, record.request.asksRanges {
            let isProved = record.resume.validators.ifRange != nil
            judge = ResponseJudge(
                start: max(0, count - (isProved ? Overlap.resumed : StreamOutput.tailSize)), end: nil,
                asksRange: true, known: attempt.version)
        } else if !stream.canCompareAll {
            throw .verificationFailed(.streamBroken("nothing proves that the rest is of the same version"))
        }
        return attempt.makeProbe(judge, countedFrom: count)
    }
}
