import Foundation
import HTTPTypes

/// The transfers of an attempt: the scout, then as many connections as asked for, until every byte is there.
extension DownloadRunner {
    /// Returns the size of the file once all of it is written; nil when there was nothing to fetch.
    func transfer() async throws -> Int64? {
        for restart in 0... {
            do {
                // What a transfer that was begun has brought is kept first.
                if !isScoutBegun { try obeyStop() }
                try checkNameBeforehand()
                if record.request.url.known == .file { return try await copyLocalFile() }
                guard let opening = try await openScout() else { return nil }
                return try await receive(opening)
            } catch {
                if try await ends(after: error, restart: restart) { return nil }
            }
        }
        return nil
    }

    private func receive(_ opening: Opening) async throws -> Int64 {
        let head = try require(opening.scout.head)
        if case .newVersion(let total, let why)? = opening.scout.verdict, !comparesWhole(total) {
            try await replace(why: why)
        }
        // All of it is here, in one buffer: what is left needs the disk and the store, and no slot.
        if opening.isWhole {
            context.transfersEnded(record.id, control)
        }
        try await establish(head, opening)
        let file = try require(self.file)
        makePool(opening, head)
        defer { endPool() }
        file.proveJoins(head.status == 206 && joinsByBytes)
        opening.scout.attach(file)
        opener = nil
        if !opening.isWhole { await recall(opening.url.origin) }
        let work = beginWork(opening, head)
        if let result = opening.result {
            try await settle(opening.scout, result, work)
        } else {
            try follow(.tick, work)
        }
        repeat {
            while !segments.isEmpty {
                switch try await nextMessage() {
                case .segmentFinished(let segment, let result): try await settle(segment, result, work)
                case .moved: try follow(.tick, work)
                case .pulse:
                    work.isPulseDue = false
                    try follow(.tick, work)
                case .pieceFailed(let piece): try redo(piece, work)
                default: break
                }
            }
            try await fetchRest(of: file, work)
        } while try await !piecesAreRight(work) || !segments.isEmpty
        if let best = work.planner.learned {
            await remember(work.share?.learn(best: best, at: context.time.date), work)
        }
        await context.disk.afterWrites()
        return try confirm(head, opening, file, work)
    }

    /// What a set of transfers works through. An object: what is in the frame of an async function each of a thousand
    /// downloads keeps, in several copies.
    final class SegmentWork {
        let route: RequestRoute
        var url: SourceURL { route.url }
        var planner: SegmentPlanner
        /// Nil where one connection is all there can be.
        let share: ConnectionShare?
        let started: ContinuousClock.Instant
        var isPulseDue = false
        /// Where the bytes of each answer in part begin and end, but for those of the requests that run.
        var answers: [Range<Int64>] = []
        /// How often bytes were still missing when every request was over.
        var rounds = 0
        static let roundLimit = 3
        /// So often the only connection may be refused and asked for again.
        var patience = 5
        var lastError: DownloadError?

        init(
            route: RequestRoute, planner: SegmentPlanner, share: ConnectionShare?, started: ContinuousClock.Instant
        ) {
            self.route = route
            self.planner = planner
            self.share = share
            self.started = started
        }
    }

    @inline(never)
    private func beginWork(_ opening: Opening, _ head: ResponseHead) -> SegmentWork {
        let isFixed = record.request.hasFixedConnections
        let limit = record.request.connectionLimit ?? SegmentPlanner.automaticLimit
        let hosts = context.hosts
        let time = context.time
        let share =
            opening.isWhole ? nil : hosts.share(of: opening.url.origin, isFixed: isFixed, limit: limit, at: time.date)
        pool?.join(first: share) { hosts.share(of: $0, isFixed: isFixed, limit: limit, at: time.date) }
        return SegmentWork(
            route: opening.route, planner: plan(around: opening.scout, head, opening.url.origin), share: share,
            started: time.now)
    }

    private func require<T>(_ value: T?) throws(DownloadError) -> T {
        guard let value else { throw .unexpected("a transfer without its parts") }
        return value
    }

    // MARK: What the first answer established

    func establish(_ head: ResponseHead, _ opening: Opening) async throws {
        try note(head, opening)
        if file == nil { file = try await createFile(head, isMirror ? record.request.url : opening.url) }
        let file = try require(file)
        if !opening.isWhole, context.watchesWriters { file.watchWriters() }
        if let total = record.resume.total {
            try await context.disk.onWriter { () throws(DownloadError) in try file.reserve(total) }
            FaultPoint.reached("afterReserve")
        }
        tellStart(file)
    }

    /// Not inlined, nor what follows: what an async function keeps of it, each of a thousand downloads keeps to its end.
    @inline(never)
    func note(_ head: ResponseHead, _ opening: Opening) throws(DownloadError) {
        let total: Int64? =
            switch opening.scout.verdict {
            case .body(_, _, let total), .newVersion(let total, _): total
            default: nil
            }
        if record.resume.written.isEmpty {
            record.resume.total = total
            record.resume.validators = Validators(head: head, now: context.time.date)
            record.resume.contentType = ResponseJudge.mediaType(head)
            record.resume.contentEncoding = ResponseJudge.contentEncoding(head)
        } else {
            // The validators stay those of the bytes that are here: newer ones prove nothing about them.
            record.resume.total = total ?? record.resume.total
        }
        // Shown, never asked again: one that repeats a secret is not worth keeping.
        record.resume.finalURL = RequestSecrets(record.request, secrets).occur(in: opening.url) ? nil : opening.url
        record.resume.acceptsRanges = head.status == 206
        try requireSize(total)
        noteSource(head, opening.scout)
        try noteDigest(head, opening.url)
        takeDescription()
        takeLinks()
        control.show(total: record.resume.total)
        tellOfComparing(opening)
    }

    @inline(never)
    private func tellStart(_ file: PartialFile) {
        startDigest(file)
        control.show(record)
        context.announce(.didStart(DownloadSnapshot(record: record), atOffset: file.written.count))
    }

    /// What is here comes again for want of a proof; it is kept, and dropped only if it differs.
    private func tellOfComparing(_ opening: Opening) {
        guard case .body? = opening.scout.verdict, opening.scout.judge.start == 0, !record.resume.written.isEmpty,
            context.stream == nil, !distrustsRanges
        else { return }
        let why =
            !record.request.asksRanges
            ? "it cannot be asked for in parts; what is here is kept and compared"
            : DownloadEvent.comparesAll
        context.announce(.didRestart(DownloadSnapshot(record: record), why: why))
    }

    // MARK: Segments

    /// Tells the planner what happened, and does what it decides.
    @inline(never)
    func follow(_ event: SegmentPlanner.Event, _ work: SegmentWork) throws {
        for segment in segments { tellAnswer(of: segment, work) }
        let now = (context.time.now - work.started) / .seconds(1)
        work.planner.progress(segments.map { ($0.connection, $0.position) }, at: now)
        var decisions = work.planner.handle(event, at: now)
        if let share = work.share {
            // What it wants now, or what others gave back.
            let demand = work.planner.demand
            let running = segments.map(\.connection)
            let granted =
                pool?.grant(wants: demand.wants, running: running) ?? share.grant(has: demand.has, wants: demand.wants)
            work.planner.grant(granted)
            if work.planner.target > demand.has { decisions += work.planner.handle(.tick, at: now) }
        }
        var overrun = ByteRanges()
        for decision in decisions {
            switch decision {
            case .ask(let connection, let range):
                // The one that was cut had more by then. Something there must be to ask for.
                let start = min(overrun.missing(in: range).ranges.first?.lowerBound ?? .max, range.upperBound - 1)
                work.planner.skip(connection, to: start)
                try launch(connection, start..<range.upperBound, work)
            case .duplicate(let connection, let range, let other):
                try launch(connection, range, work)
                for segment in segments where [connection, other].contains(segment.connection) { segment.tellMove() }
            case .cut(let connection, let end):
                let last = segments.first { $0.connection == connection }?.shorten(to: end) ?? end
                if last > end { overrun.insert(end..<last) }
            }
        }
        pool?.settle(running: segments.map(\.connection))
        let index = record.attempts.count - 1
        record.attempts[index].connections = max(record.attempts[index].connections, segments.count)
        awaitPulse(work)
    }

    private func tellAnswer(of segment: SegmentWriter, _ work: SegmentWork) {
        guard let answer = segment.takeAnswer() else { return }
        work.planner.answered(
            segment.connection, after: answer.after, at: (answer.at - work.started) / .seconds(1))
    }

    /// One at a time, and none where speeds make no difference.
    private func awaitPulse(_ work: SegmentWork) {
        guard !work.isPulseDue, !segments.isEmpty, let interval = work.planner.tickInterval else { return }
        work.isPulseDue = true
        pulse = Task { [control, time = context.time] in
            do { try await time.sleep(for: .seconds(interval)) } catch { return }
            control.send(.pulse)
        }
    }

    /// Parts came, and may not be joined.
    package static let partsUnproved = DownloadError.verificationFailed(
        .unverifiable(
            "the server sends it in parts, without a strong ETag or Last-Modified to prove that they are of one version; "
                + "only a checksum can prove the whole"))

    private func launch(_ connection: Int, _ range: Range<Int64>, _ work: SegmentWork) throws {
        if !mayJoinParts {
            throw Self.partsUnproved
        }
        let member = pool?.member(for: connection, running: segments.map(\.connection))
        let asked = joinsByBytes ? overlapping(range) : range
        let judge = ResponseJudge(
            start: asked.lowerBound, end: asked.upperBound, asksRange: true, known: version(for: connection))
        let segment = SegmentWriter(
            connection: connection, judge: judge, file: file, countedFrom: range.lowerBound,
            countedTo: range.upperBound, disk: context.disk, control: control)
        segments.append(segment)
        segment.begin(
            context.transport,
            request(for: segment, member.flatMap { pool?.members[$0].route } ?? work.route, conditionalOn: nil))
    }

    /// Where the range that was asked for ends, or the whole file that came instead, or the file.
    func end(of segment: SegmentWriter) -> Int64 {
        let end = segment.unfinished?.upperBound ?? segment.position
        return max(segment.position, min(end, record.resume.total ?? end))
    }

    /// A transfer ended: its connection goes on with its next range, or what it did not bring goes to the others.
    func settle(_ segment: SegmentWriter, _ result: TransferResult, _ work: SegmentWork) async throws {
        var position = await forgetDoubtful(of: segment, result)
        // The bytes before its range, which it compares first, belong to another connection.
        if position == segment.position { position = max(position, segment.countedStart) }
        await noteAnswer(of: segment, upTo: position, work)
        tellAnswer(of: segment, work)
        let hasAll = record.resume.total != nil && position >= end(of: segment)
        let outcome = ended(segment, result, hasAll: hasAll).outcome
        let ending =
            if let pool { try handle(outcome, of: segment, in: pool, work) } else {
                try await handle(outcome, of: segment, work)
            }
        if ending == .complete, record.resume.total != nil, !hasAll { work.lastError = Self.tooShort }
        try follow(.ended(segment.connection, position: position, ending), work)
        guard ending == .refused, let cap = work.planner.cap else { return }
        await remember(work.share?.refused(serving: cap, at: context.time.date), work)
    }

    /// A file that only a digest, or the user, can call whole is an error without either.
    func ended(_ segment: SegmentWriter, _ result: TransferResult, hasAll: Bool = false) -> EndedTransfer {
        let isProved = expected != nil || record.request.acceptsUnverified
        return segment.ended(result, hasAll: hasAll, excess: isProved ? nil : SegmentWriter.overlong)
    }

    /// Decides what the end of a transfer of the only source means for its connection.
    private func handle(
        _ outcome: TransferOutcome, of segment: SegmentWriter, _ work: SegmentWork
    ) async throws -> SegmentPlanner.Ending {
        switch outcome {
        case .complete: return .complete
        case .cut: return .cut
        case .stopped: throw RoundEnd.stopped
        case .changed(let why): throw RoundEnd.changed(why: why)
        case .failed(let error): throw error
        case .fileRefused:
            try requireWritten()
            return .lost
        case .lost(let error):
            work.lastError = error
            if let refusal = try await refusal(of: segment, error, work) { return refusal }
            if segments.isEmpty { throw error }
            return .lost
        case .redirected: return try declined(TransferOutcome.redirectOfPart, by: segment, work)
        case .declined(let error): return try declined(error, by: segment, work)
        }
    }

    /// Forgets what a transfer brought and cannot be believed. Returns how far it can.
    func forgetDoubtful(of segment: SegmentWriter, _ result: TransferResult) async -> Int64 {
        let doubtful = segment.doubtful(after: ended(segment, result).ending)
        if !doubtful.isEmpty { context.stream?.isDoubted = true }
        guard !doubtful.isEmpty, let file else { return segment.position }
        await context.disk.afterWrites()
        // Bytes of earlier attempts were compared with the answer, and are the same.
        let lost = inherited.missing(in: doubtful)
        file.forget(lost)
        control.add(received: -Int(lost.count))
        restartDigest(of: file)
        return doubtful.lowerBound
    }

    /// RFC 9110 allows a 206 that is shorter than asked. Where such answers bring nothing, the planner ends them all, and
    /// this is the error.
    static let tooShort = DownloadError.protocolViolated(.wrongRange("answers shorter than asked"))

    private func declined(
        _ error: DownloadError, by segment: SegmentWriter, _ work: SegmentWork
    ) throws -> SegmentPlanner.Ending {
        work.lastError = error
        retryAfter = segment.head.flatMap { ServerPause($0, work.url, now: context.time.date) }
        guard case .serverRefused(let status, _) = error else {
            // Some FTP servers cannot begin within a file: then all of it comes, and is compared.
            if segments.isEmpty { throw work.url.isHTTP ? error : RoundEnd.stale(error) }
            return .unfit
        }
        if work.url != record.source, [403, 404, 410].contains(status) { throw RoundEnd.stale(error) }
        // The server gives no more connections: those that run carry on.
        if segments.isEmpty { throw error }
        return [429, 503].contains(status) ? .refused : .unfit
    }

    func requireWritten() throws {
        if let failure = file?.failure { throw failure }
        guard file?.differs == true else { return }
        let why = "its bytes differ from those fetched before"
        throw claimsSameVersion ? RoundEnd.misplaced(why: why) : RoundEnd.changed(why: why)
    }

    /// Everything received is written, and it is everything.
    @inline(never)
    private func confirm(
        _ head: ResponseHead, _ opening: Opening, _ file: PartialFile, _ work: SegmentWork
    ) throws -> Int64 {
        try requireWritten()
        if let joint { prove(joint) }
        try requireKnownEnd(of: head, opening)
        let total = record.resume.total ?? opening.scout.position
        guard file.written.contains(0..<total) else {
            throw work.lastError ?? DownloadError.verificationFailed(.size(expected: total, actual: file.written.count))
        }
        record.resume.total = total
        control.show(total: total)
        control.show(received: total)
        return total
    }
}
