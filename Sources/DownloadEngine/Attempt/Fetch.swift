import DownloadCore

/// The phase that fetches a file until every byte is in the partial file, over one or more connections and from one or
/// more sources. The first transfer is that of the probe. A single source is also a ``SourcePool``, with one member.
final class Fetch: AttemptPhase {
    let attempt: Attempt
    private let answer: ProbeAnswer
    let target: PartialFile
    let sources: SourcePool
    var planner: SegmentPlanner
    private let started: ContinuousClock.Instant
    /// The timer for the next check of the speeds.
    private var pulse: Task<Void, Never>?
    /// The ranges that were fetched by 206 answers which have ended.
    var answered: [Range<Int64>] = []
    /// The number of times that bytes were still missing when every request had ended.
    private var rounds = 0
    /// The number of times that the server may still refuse the only connection before the fetch fails.
    var patience = 5
    var lastError: DownloadError?
    /// The number of connections that the server allows, as far as the host's profile has it.
    var savedCap: Int?
    /// The origin whose addresses the connections use, and the addresses by their numbers in the planner; no addresses
    /// while they are not known.
    private var named: (origin: String, addresses: [String])
    /// The origin that each connection has asked last, and whether the planner has chosen the address.
    private(set) var origins: [Int: (origin: String, isDirected: Bool)] = [:]
    /// The ranges of connections whose requests wait until the URL of the source is renewed.
    private var waiting: [Int: Range<Int64>] = [:]

    /// Begins a fetch: the probe's transfer writes to the file from now on.
    static func begin(_ attempt: Attempt, _ answer: ProbeAnswer) async throws(DownloadError) -> Fetch {
        guard let target = attempt.local.file else { throw .unexpected("a transfer without a file") }
        let plan = FetchPlan(attempt: attempt, answer: answer, target: target)
        plan.attach()
        if plan.needsKnowledge { await plan.recallHost() }
        return Fetch(plan)
    }

    @inline(never)
    private init(_ plan: FetchPlan) {
        attempt = plan.attempt
        answer = plan.answer
        target = plan.target
        sources = attempt.transfers.sources
        named = (sources.members[0].route.url.origin, [])
        plan.joinHosts(sources)
        planner = plan.makePlanner(sources)
        savedCap = planner.cap
        started = attempt.context.time.now
    }

    /// The share of the session's connections to the host of the answer; nil if the file needs only one connection.
    var share: ConnectionShare? { sources.members[0].share }
    var running: [SegmentWriter] { attempt.transfers.running }

    /// Fetches the file. Returns when every byte is written.
    func run() async throws {
        defer { end() }
        if let end = answer.endMessage {
            try await settle(end)
        } else {
            try follow(.tick)
        }
        repeat {
            while !running.isEmpty || awaitsReader() {
                let message = try await attempt.nextMessage()
                switch message {
                case .segmentFinished: try await settle(message)
                case .moved:
                    rounds = 0
                    try follow(.tick)
                case .pulse:
                    endPulse()
                    try follow(.tick)
                case .addressesCame(let found):
                    named.addresses = found
                    planner.found(addresses: found.count)
                    try follow(.tick)
                case .pieceFailed(let piece): try fetchAgain(piece)
                default: break
                }
            }
            try await fetchRest()
        } while try await !piecesAreRight() || !running.isEmpty
        await rememberLearned()
        await context.disk.afterWrites()
        try confirm()
    }

    private func end() {
        endPulse()
        sources.leaveHosts()
        attempt.local.verifier = nil
    }

    @inline(never)
    func follow(_ event: SegmentPlanner.Event) throws {
        for segment in running { reportAnswer(of: segment) }
        try moveWindow()
        let now = (context.time.now - started) / .seconds(1)
        planner.progress(running.map { ($0.connection, $0.position) }, at: now)
        var decisions = planner.handle(event, at: now)
        if share != nil {
            // The planner may want another number of connections now, or other downloads may have given connections
            // back.
            let demand = planner.demand
            planner.grant(
                sources.grant(has: demand.has, wants: demand.wants, running: attempt.transfers.connections))
            if planner.target > demand.has { decisions += planner.handle(.tick, at: now) }
        }
        var overrun = ByteRanges()
        for decision in decisions {
            switch decision {
            case .ask(let connection, let range):
                // A connection whose range was cut by an earlier decision in this loop may already be past the cut. The
                // bytes that it has are skipped here, but at least one byte must be requested.
                let start = min(overrun.missing(in: range).ranges.first?.lowerBound ?? .max, range.upperBound - 1)
                planner.skip(connection, to: start)
                try ask(connection, start..<range.upperBound)
            case .duplicate(let connection, let range, let other):
                try ask(connection, range)
                for segment in running where [connection, other].contains(segment.connection) { segment.tellMove() }
            case .cut(let connection, let end):
                waiting[connection] = waiting[connection].map { $0.lowerBound..<max($0.lowerBound + 1, end) }
                let last = running.first { $0.connection == connection }?.shorten(to: end) ?? end
                if last > end { overrun.insert(end..<last) }
            }
        }
        for (connection, range) in waiting { try ask(connection, range) }
        lookUpAddresses()
        sources.settle(running: attempt.transfers.connections)
        record.lastAttempt.connections = max(record.lastAttempt.connections, running.count)
        record.lastAttempt.connectionReason = planner.restraint
        startPulse()
    }

    /// Lets the connections fetch as far as the spool of a stream has room.
    private func moveWindow() throws(DownloadError) {
        guard target.isSpool else { return }
        if let failure = context.stream?.failure { throw failure }
        let end = target.limit
        if planner.spool?.end != end { for segment in running { segment.resumeTransfer() } }
        planner.spool = StreamWindow(size: target.ring, end: end, readerWaits: target.isDrained)
    }

    /// Returns whether nothing can be requested before the reader of the stream has taken some bytes.
    private func awaitsReader() -> Bool {
        guard planner.isFull, !target.isDrained, let pump = context.stream?.pump else { return false }
        let moved: @Sendable () -> Void = { [control] in control.send(.moved) }
        pump.drain(moved, done: moved)
        return true
    }

    private func ask(_ connection: Int, _ range: Range<Int64>) throws(DownloadError) {
        if !attempt.mayJoinParts {
            throw .partsUnproved
        }
        let member = sources.member(for: connection, running: attempt.transfers.connections)
        guard sources.prepare(connection, from: member, of: record.request, at: context.time.date) else {
            waiting[connection] = range
            return
        }
        waiting[connection] = nil
        let asked = attempt.comparesOverlaps ? overlapping(range) : range
        let judge = ResponseJudge(
            start: asked.lowerBound, end: asked.upperBound, asksRange: true, known: version(for: member))
        let segment = SegmentWriter(
            connection: connection, judge: judge, file: target, countedFrom: range.lowerBound,
            countedTo: range.upperBound, disk: context.disk, control: control)
        // The requests that wait for a new URL are sent when the first bytes come from it.
        if sources.members[member].link.renewing == connection { segment.tellMove() }
        let route = sources.members[member].route
        let address = address(for: connection, route)
        origins[connection] = (route.url.origin, address != nil)
        attempt.start(segment, route, at: address)
    }

    // MARK: Addresses

    private func lookUpAddresses() {
        guard let segment = running.first(where: { $0.position > $0.judge.start }), let transfer = segment.transfer,
            planner.asksForAddresses()
        else { return }
        // A link may have been renewed since, for another host.
        named.origin = origins[segment.connection]?.origin ?? named.origin
        Task { [control] in control.send(.addressesCame(await transfer.addresses())) }
    }

    /// Returns the address that a connection must use. Nil for the first address, which the transport chooses itself, so
    /// that it can use a connection that is open.
    private func address(for connection: Int, _ route: RequestRoute) -> String? {
        let number = planner.address(of: connection)
        guard number > 0, named.addresses.indices.contains(number), route.url.origin == named.origin else { return nil }
        let address = named.addresses[number]
        let known = record.lastAttempt.otherAddresses ?? []
        if !known.contains(address) { record.lastAttempt.otherAddresses = known + [address] }
        return address
    }

    /// Returns the version that the answers of a source must have.
    private func version(for member: Int) -> ResponseJudge.Version {
        var known = attempt.version
        guard sources.isShared else { return known }
        // Without digests, the ETag proves the version.
        let isProved = record.isProved || attempt.local.verifier != nil
        known.validators = sources.members[member].validators ?? (isProved ? Validators() : record.resume.validators)
        return known
    }

    func reportAnswer(of segment: SegmentWriter) {
        guard let answer = segment.takeAnswer() else { return }
        sources.endRenewal(by: segment.connection)
        sources.proveLink(of: segment.connection, at: context.time.date)
        planner.answered(segment.connection, after: answer.after, at: (answer.at - started) / .seconds(1))
    }

    /// Starts the timer. There is one timer at a time, and none if the speeds make no difference.
    private func startPulse() {
        guard pulse == nil, !running.isEmpty, let interval = planner.tickInterval else { return }
        pulse = attempt.send(.pulse, at: context.time.now + .seconds(interval))
    }

    func endPulse() {
        pulse?.cancel()
        pulse = nil
    }

    /// Requests the bytes that are still missing after every request has ended. Bytes can be missing then if an overlap
    /// check was not completed.
    private func fetchRest() async throws {
        guard record.resume.acceptsRanges, attempt.comparesOverlaps, let total = record.resume.total else { return }
        await context.disk.afterWrites()
        try attempt.requireWritten()
        let missing = target.written.missing(in: 0..<total)
        guard !missing.isEmpty, rounds < Self.roundLimit else { return }
        rounds += 1
        for range in missing.ranges { planner.restore(range) }
        try follow(.tick)
    }

    private static let roundLimit = 3

    /// Throws if a write failed, or if bytes are missing. Records the total size.
    @inline(never)
    private func confirm() throws {
        try attempt.requireWritten()
        if let check = attempt.sourceCheck { attempt.prove(check) }
        try attempt.requireKnownEnd(of: answer)
        let total = record.resume.total ?? answer.segment.position
        guard target.written.contains(0..<total) else {
            throw lastError ?? .verificationFailed(.size(expected: total, actual: target.written.count))
        }
        record.resume.total = total
        control.show(total: total)
        control.show(received: total)
    }

    @inline(never)
    private func rememberLearned() async {
        if let best = planner.learned { await remember(share?.learn(best: best, at: context.time.date)) }
    }

    /// Saves the profile of the host that sent the probe's answer, for later sessions.
    func remember(_ knowledge: HostKnowledge?) async {
        guard let knowledge else { return }
        // If the store fails, the next session learns the same again.
        try? await context.store.learn(of: answer.url.origin) { _ in knowledge }
    }
}
