import DownloadCore
import DownloadSystem
import Foundation

/// The plan of a fetch: the sources of the file and the number of connections. It is made while only the probe runs.
struct FetchPlan: AttemptPhase {
    let attempt: Attempt
    let answer: ProbeAnswer
    let target: PartialFile

    private var origin: String { answer.url.origin }
    private var sendsPart: Bool { answer.head.status == 206 && answer.segment.judge.asksRange }

    @inline(never)
    func attach() {
        attempt.transfers.sources = makeSources()
        target.proveJoins(sendsPart && attempt.comparesOverlaps)
        answer.segment.attach(target)
        attempt.transfers.probe = nil
    }

    /// Returns the source of the answer. Adds other sources if their bytes can be proved (RFC 6249 section 5). The
    /// proof is a strong ETag that all sources have, the digest of the file, or the digests of its pieces.
    private func makeSources() -> SourcePool {
        let others = otherSources()
        let sources = SourcePool(
            [record.source] + others, first: answer.segment.connection, route: answer.route,
            validators: record.resume.validators, for: record.request, upgradedBy: context.strictHosts)
        if !others.isEmpty, let pieces = fittingPieces, let total = record.resume.total {
            let verifier = PieceVerifier(
                of: target, pieces, total: total, queue: context.disk.digests,
                unless: { [control] in control.isStopping },
                failed: { [control] in control.send(.pieceFailed($0)) })
            attempt.local.verifier = verifier
        }
        return sources
    }

    private var fittingPieces: PieceHashes? { record.hasPieces ? record.request.pieces : nil }

    private func otherSources() -> [SourceURL] {
        guard !record.request.mirrors.isEmpty, record.request.connections != 1, attempt.sourceCheck == nil,
            !answer.isWhole, sendsPart, record.resume.total != nil, record.resume.sources?.isAlone != true,
            fittingPieces != nil || record.isProved || record.resume.validators.hasStrongTag
        else { return [] }
        let (source, book) = (record.source, record.resume.sources ?? SourceBook())
        return record.request.sources.filter { $0 != source && !book.standing(of: $0.string).isFinal }
    }

    /// Whether knowledge about the host makes a difference, and this session has none.
    var needsKnowledge: Bool {
        @inline(never) get {
            !answer.isWhole && record.request.connections.fixed == nil
                && record.resume.total.map { $0 >= ConnectionRamp.leastSize } ?? false
                && context.hosts.knowledge(of: origin, at: context.time.date) == nil
        }
    }

    /// Reads from the store what earlier sessions learned about the host.
    @inline(never)
    func recallHost() async {
        // If the store fails, only time is lost.
        context.hosts.recall(try? await context.store.knowledge(of: origin), of: origin)
    }

    /// Registers this download with the host of each source: the downloads that are registered with a host share the
    /// session's connections to it. The host of the answer is left out if the file has come whole already.
    func joinHosts(_ sources: SourcePool) {
        let isFixed = record.request.connections.fixed != nil
        let share = { [hosts = context.hosts, now = context.time.date] (origin: String) in
            hosts.share(of: origin, isFixed: isFixed, limit: connectionLimit, at: now)
        }
        sources.join(first: answer.isWhole ? nil : share(origin), share)
    }

    private var connectionLimit: Int { record.request.connections.limit ?? SegmentPlanner.automaticLimit }

    /// Makes the planner of the fetch. Plans several connections only if they certainly fetch the same version. A
    /// strong validator proves the version; for FTP and SSH, the size and the modification time do. With FTP and SSH
    /// each connection has to log in, so one is used unless the user asks for more.
    func makePlanner(_ sources: SourcePool) -> SegmentPlanner {
        let segment = answer.segment
        let isCompared = attempt.sourceCheck?.way == .compared
        var missing = ByteRanges()
        var lease: Range<Int64>?
        if let total = record.resume.total {
            let position = segment.position
            let first = position..<(sendsPart ? segment.end(of: total) : total)
            missing = target.written.missing(in: 0..<total)
            // An answer may begin before the requested offset.
            missing.remove((sendsPart ? min(segment.judge.start, position) : 0)..<position)
            if isCompared { missing = ByteRanges([position..<max(position, total)]) }
            missing = missing.union(ByteRanges([first]))
            lease = first
        }
        let isOneVersion =
            attempt.validators.ifRange != nil || sources.isShared || attempt.isKnownBySizeAndTime && isOld
        let canSplit = sendsPart && isOneVersion && record.resume.total != nil && !isCompared
        let (request, isHTTP) = (record.request, record.source.isHTTP)
        let wanted = request.connections.fixed ?? (isHTTP ? nil : 1)
        return SegmentPlanner(
            missing: missing, first: lease.map { (segment.connection, $0) }, wish: canSplit ? wanted : 1,
            automaticLimit: connectionLimit, knowledge: context.hosts.knowledge(of: origin, at: context.time.date),
            fruitlessLimit: RequestBudget.limit(retries: request.retry.limit),
            start: sources.usable, keepsConnections: isHTTP,
            mayChooseAddress: canSplit && maySearch(missing, sources, wanted),
            now: 0)
    }

    /// Returns whether connections may be directed to all addresses of the server's name. The file must be large enough.
    /// With many downloads at once, the search for a fast address would need a timer for each of them.
    private func maySearch(_ missing: ByteRanges, _ sources: SourcePool, _ wanted: Int?) -> Bool {
        guard record.source.isHTTP, !sources.isShared, missing.count >= ConnectionRamp.leastSize,
            !context.requests.isCrowded
        else { return false }
        // A single connection makes a second request only for this search. Some links are valid for one request: they
        // have a query, or the server has redirected to them.
        return wanted != 1
            || attempt.mayAskAgain && record.lastAttempt.redirects == 0 && !answer.url.string.contains("?")
    }

    /// Whether the modification time is at least a minute old. A younger modification time cannot tell two versions
    /// apart (as in RFC 9110 section 8.8.2.2).
    private var isOld: Bool {
        let now = context.time.date
        let modified = attempt.validators.lastModified.flatMap { HTTPDate.parse($0, now: now) }
        return modified.map { $0.timeIntervalSince(now) <= -60 } ?? false
    }
}

extension SegmentWriter {
    /// Returns the end of the requested range, or the end of the file if the server sends the whole file instead. The
    /// result is at most `total`, unless the transfer is already past `total`.
    func end(of total: Int64?) -> Int64 {
        let end = unfinished?.upperBound ?? position
        return max(position, min(end, total ?? end))
    }
}
