import Foundation
import HTTPTypes

/// The first transfer of an attempt is its own probe: its head gives size, validators, name and range support.
extension DownloadRunner {
    /// What the first answer established.
    final class Opening {
        let scout: SegmentWriter
        let route: RequestRoute
        var url: SourceURL { route.url }
        /// How the scout ended, if it did already.
        let result: TransferResult?

        init(scout: SegmentWriter, route: RequestRoute, result: TransferResult?) {
            self.scout = scout
            self.route = route
            self.result = result
        }

        /// The answer was the whole file, and all of it has come.
        var isWhole: Bool {
            guard result?.ending == .complete, scout.unfinished?.isEmpty == true else { return false }
            switch scout.verdict {
            case .body(offset: 0, let end, let total): return end == total
            case .newVersion: return true
            default: return false
            }
        }
    }

    /// The state of the search for the file. A class, as ``Opening``, and apart from inlined functions: the frames of a thousand
    /// waiting attempts hold it. As structs, with those functions inlined, 1,000 slow downloads took 86.7 MiB, else 77.4.
    private final class Search {
        var route: RequestRoute
        var asksRange: Bool
        /// The file that is here, if it may be current.
        var candidate: CompletedFile?
        /// How the last transfer ended; nil while it goes on.
        var result: TransferResult?

        init(_ route: RequestRoute, asksRange: Bool, candidate: CompletedFile?) {
            self.route = route
            self.asksRange = asksRange
            self.candidate = candidate
        }
    }

    /// What is to be done after an answer.
    private enum SearchStep {
        /// It led elsewhere, or to another question.
        case ask
        /// It is given up, and asked for in another way.
        case askAnew
        /// What is here is current; the answer brings it nevertheless, where it has a body.
        case keep(hasBody: Bool)
        case open(Opening)
        /// The answer is a Metalink document, which says where the file is.
        case followMetalink
    }

    /// Follows redirects and falls back to a request without a range until an answer is the file itself.
    /// Nil: there is nothing to fetch, the file that is here is current.
    @inline(never)
    func openScout() async throws -> Opening? {
        let search = beginSearch()
        while true {
            let scout = try beginScout(search)
            try await awaitAnswer(of: scout, search)
            switch try judge(scout, search) {
            case .ask: continue
            case .askAnew: try await dropOpener()
            case .keep(let hasBody):
                if hasBody { await endSegments() }
                keepCurrent(search.candidate)
                return nil
            case .open(let opening):
                return links?.document == nil ? opening : try await readingDescription(opening)
            case .followMetalink: if try await isCurrent(byMetalink: search) { return nil }
            }
        }
    }

    @inline(never)
    private func isCurrent(byMetalink search: Search) async throws -> Bool {
        try await followMetalink()
        if record.request.checksum != nil, let current = currentCandidate() {
            keepCurrent(current)
            return true
        }
        search.candidate = nil
        search.route = route()
        return false
    }

    /// To the source that is asked now.
    private func route() -> RequestRoute {
        RequestRoute(record.source, of: record.request, upgradedBy: context.strictHosts)
    }

    @inline(never)
    private func beginSearch() -> Search {
        makeJoint()
        let asksRange = record.request.asksRanges && !distrustsRanges
        return Search(route(), asksRange: asksRange, candidate: currentCandidate())
    }

    @inline(never)
    private func beginScout(_ search: Search) throws -> SegmentWriter {
        if isScoutBegun, let opener {
            isScoutBegun = false
            return opener
        }
        let scout = try makeScout(asksRange: search.asksRange, isConditional: search.candidate != nil)
        begin(scout, search.route, conditionalOn: search.candidate)
        return scout
    }

    @inline(never)
    private func judge(_ scout: SegmentWriter, _ search: Search) throws -> SearchStep {
        guard let head = scout.head, let verdict = scout.verdict else {
            throw search.result.flatMap { ended(scout, $0).outcome.error } ?? RoundEnd.stopped
        }
        noteAnswer(head, of: scout, search.route.url)
        if comparesInstead(of: verdict) { return .askAnew }
        switch verdict {
        case .redirect(let location):
            try search.route.follow(
                head.status, to: location, of: record.request, upgradedBy: context.strictHosts)
            record.attempts[record.attempts.count - 1].redirects = search.route.hops
            return .ask
        case .askWithoutRange where search.asksRange:
            search.asksRange = false
            return .ask
        case .askWithoutRange:
            throw DownloadError.protocolViolated(.malformedReply("no answer without a range either"))
        case .current: return .keep(hasBody: false)
        case .failed(let error): throw error
        case .changed(let why): throw RoundEnd.changed(why: why)
        case .body, .newVersion:
            if followsMetalink(head) { return .followMetalink }
            if let candidate = search.candidate, isUnchanged(candidate, head, verdict) { return .keep(hasBody: true) }
            if record.request.multiplexes(byDefault: prefersMultiplexing), record.request.asksRanges,
                record.request.network.httpVersion != .http2, search.result == nil, Self.isLarge(verdict)
            {
                prefersMultiplexing = false
                return .askAnew
            }
            if !asksWhole, compared == nil, isFirstOfUnprovenParts(head, verdict) {
                asksWhole = true
                return .askAnew
            }
            return .open(Opening(scout: scout, route: search.route, result: search.result))
        }
    }

    /// The answer is not what it should be: it is asked for again, in another way. A large file on a connection shared
    /// with others has one window for all of them, and what libcurl holds back for it while the disk is busy goes to
    /// memory: it begins again on a connection of its own.
    private func dropOpener() async throws(RoundEnd) {
        await endSegments()
        control.show(received: record.received)
        try obeyStop()
    }

    private static func isLarge(_ verdict: ResponseJudge.Verdict) -> Bool {
        switch verdict {
        case .body(_, _, let total?), .newVersion(let total?, _): total > sharedLimit
        default: false
        }
    }

    /// Part of the file, to which no other can be joined: then all of it is wanted in one answer.
    @inline(never)
    private func isFirstOfUnprovenParts(_ head: ResponseHead, _ verdict: ResponseJudge.Verdict) -> Bool {
        guard record.resume.written.isEmpty, case .body(_, let end?, let total?) = verdict, end < total else {
            return false
        }
        return !mayJoinParts && Validators(head: head, now: context.time.date).ifRange == nil
            && ServerDigest.checksum(of: head) == nil
    }

    private static let sharedLimit: Int64 = 4 << 20

    /// Waits until the first transfer wants a file, or has ended.
    private func awaitAnswer(of scout: SegmentWriter, _ search: Search) async throws {
        search.result = nil
        while true {
            switch try await nextMessage() {
            case .segmentOpened(let segment) where segment === scout: return
            case .segmentFinished(let segment, let result) where segment === scout:
                search.result = result
                return
            default: continue
            }
        }
    }

    private func noteAnswer(_ head: ResponseHead, of scout: SegmentWriter, _ url: SourceURL) {
        context.strictHosts?.learn(head, url, of: record.request)
        secrets.learn(head.cookies)
        scout.learnedCookies = head.cookies?.lines
        retryAfter = ServerPause(head, url, now: context.time.date)
        noteLinks(head, from: url)
    }

    // MARK: The request (not inlined: see DownloadRunner.note)

    @inline(never)
    func begin(_ scout: SegmentWriter, _ route: RequestRoute, conditionalOn candidate: CompletedFile?) {
        opener = scout
        segments.append(scout)
        scout.begin(context.transport, request(for: scout, route, conditionalOn: candidate))
    }

    @inline(never)
    func makeScout(asksRange: Bool, isConditional: Bool) throws(DownloadError) -> SegmentWriter {
        if let stream = context.stream { return try makeStreamScout(stream, asksRange: asksRange) }
        if let compared { return makeProbe(compared, asksRange: asksRange) }
        let resume = record.resume
        let hasData = !resume.written.isEmpty
        let gap = resume.total.map { resume.written.missing(in: 0..<$0) }?.ranges.first
        let start = gap?.lowerBound ?? resume.written.prefix
        var end = gap.flatMap { gap in gap.upperBound == resume.total ? nil : gap.upperBound }
        var countedTo = Int64.max
        var overlapStart = Overlap.start(before: start, held: file?.written ?? ByteRanges(), size: overlapSize)
        let comparesAll = hasData && (!mayGoOn || !asksRange || joint?.way == .compared)
        if comparesAll {
            overlapStart = 0
            end = nil
            control.show(received: 0)
        } else if record.request.connections > 1, asksRange, !asksWhole, record.request.url.isHTTP {
            let lease = start + (hasData ? SegmentPlanner.leaseSize : Self.firstLease)
            if lease < (gap?.upperBound ?? .max) { end = lease }
        }
        if let wanted = end, let file {
            countedTo = wanted
            end = Overlap.end(after: wanted, held: file.written)
        }
        // A server that ignores the condition need not send what is here already.
        if isConditional { end = start + 1 }
        var judge = ResponseJudge(
            start: overlapStart, end: end, asksRange: asksRange, known: hasData ? version : nil)
        judge.isConditional = isConditional
        judge.validation = record.request.validation
        let connection = nextConnection
        nextConnection += 1
        return SegmentWriter(
            connection: connection, judge: judge, file: nil, countedFrom: comparesAll ? 0 : start, countedTo: countedTo,
            disk: context.disk, control: control)
    }

    /// With several connections the first answer is short, so that none of it has to be cut off.
    static let firstLease: Int64 = 4 << 20
    var version: ResponseJudge.Version {
        ResponseJudge.Version(
            validators: validators, total: record.resume.total, contentType: record.resume.contentType,
            contentEncoding: record.resume.contentEncoding, digest: asksForDigest ? record.resume.digest : nil)
    }

    /// How many bytes are compared before new ones are joined to those that are here: more where no `If-Range` asks for
    /// the same version, or the size is not known; fewer where an earlier attempt brought few, or none would get further.
    var overlapSize: Int64 {
        if validators.ifRange == nil || record.resume.total == nil { return Overlap.unproven }
        let brought = record.attempts.last { $0.received > 0 }?.received ?? .max
        return min(Overlap.resumed, max(Overlap.joined, brought / 8))
    }

    /// A strong validator or a digest proves that parts are of one version (RFC 9110 section 15.3.7.3), or the user says
    /// so.
    var mayJoinParts: Bool {
        validators.ifRange != nil || expected != nil || record.request.acceptsUnverified
            || record.resume.movedFrom != nil || isKnownBySizeAndTime || hasPieces
    }

    /// Servers without HTTP tell no more of a version than size and time: with the same of both, the end of what is here
    /// is compared.
    var isKnownBySizeAndTime: Bool {
        !record.source.isHTTP && record.resume.total != nil && validators.lastModified != nil
    }

    /// Otherwise what is here is fetched again, and compared; which a little is in any case.
    var mayGoOn: Bool {
        let written = record.resume.written
        return mayJoinParts || written.prefix == written.count && written.count <= Overlap.unproven
    }

    func request(
        for segment: SegmentWriter, _ route: RequestRoute, conditionalOn candidate: CompletedFile?
    ) -> TransferRequest {
        let validators = pool == nil ? self.validators : segment.judge.known?.validators ?? Validators()
        var request = context.request(
            route, of: record.request, secrets, for: control, prefersMultiplexing: prefersMultiplexing)
        if let turned = request.network.turned(record.attempts.count - 1) { request.network = turned }
        let judge = segment.judge
        if judge.asksRange {
            // The last range has no end: a server that is wrong about the total shows it.
            let end = judge.end.flatMap { $0 == record.resume.total ? nil : "\($0 - 1)" }
            request.range = "\(judge.start)-\(end ?? "")"
            if judge.known != nil, let value = validators.ifRange { request.fields[.ifRange] = value }
        }
        if let candidate {
            request.fields[.ifNoneMatch] = candidate.validators.etag?.fieldValue
            request.fields[.ifModifiedSince] = candidate.validators.lastModified
        }
        return request
    }

    /// A body that only the end of its connection ends may have been cut short by it (RFC 9112 section 8): over TLS
    /// close_notify tells, else a digest must.
    func requireKnownEnd(of head: ResponseHead, _ opening: Opening) throws(DownloadError) {
        guard record.resume.total == nil, ResponseJudge.contentLength(head) == nil, head.httpVersion.hasPrefix("1"),
            opening.url.scheme == "http",
            head.fields.value(.transferEncoding)?.lowercased().hasSuffix("chunked") != true,
            expected == nil, !record.request.acceptsUnverified
        else { return }
        throw .verificationFailed(.endUnproved)
    }

    // MARK: A file that is complete already

    /// The file of an earlier completion, if it is still as it was left and the server can tell whether it is current.
    @inline(never)
    func currentCandidate() -> CompletedFile? { unchangedCompletion.flatMap { isVerified($0) ? $0 : nil } }

    /// The same, whatever checksum is asked for.
    var unchangedCompletion: CompletedFile? {
        let destination = record.request.destination
        guard record.request.isPlain,
            let completed = record.completed, record.resume.written.isEmpty, !completed.validators.isEmpty,
            // An alternative name answers for the one asked for only where alternatives are wanted.
            destination.ifExists == .rename
                || destination.fileName.map({ FileNaming.path(destination.folder, $0) == completed.path }) ?? true,
            isWanted(completed), let now = FileStatus.of(completed.path), now.identity.isSame(as: completed.identity),
            completed.fate(.found(now)) == .there
        else { return nil }
        return completed
    }

    /// What an earlier run took may not be what is asked for now.
    private func isWanted(_ completed: CompletedFile) -> Bool {
        let validation = record.request.validation
        return validation.failure(type: record.resume.contentType) == nil
            && validation.failure(size: completed.bytes) == nil
    }

    @inline(never)
    func keepCurrent(_ candidate: CompletedFile?) {
        guard var current = candidate else { return }
        current.wasCurrent = true
        record.completed = current
        record.fileName = FileNaming.lastComponent(current.path)
    }

    /// The server ignored the condition, but its answer is the version that is here.
    func isUnchanged(_ candidate: CompletedFile, _ head: ResponseHead, _ verdict: ResponseJudge.Verdict) -> Bool {
        if let checksum = candidate.checksum, ServerDigest.contradicts(checksum, head) != nil { return false }
        let now = Validators(head: head, now: context.time.date)
        if let was = candidate.validators.etag, let etag = now.etag { return was == etag }
        guard case .body(_, _, let total) = verdict else { return false }
        return candidate.validators.lastModified != nil && candidate.validators.lastModified == now.lastModified
            && total == candidate.bytes
    }
}
