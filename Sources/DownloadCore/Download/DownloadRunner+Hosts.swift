import Foundation

/// How many connections there are to be, by what is known of the host.
extension DownloadRunner {
    /// Several connections only where a strong validator makes sure that they fetch the same version, or what stands for
    /// one without HTTP. There each of them logs in, so that it takes the user's word to have more than one.
    func plan(around scout: SegmentWriter, _ head: ResponseHead, _ origin: String) -> SegmentPlanner {
        var missing = ByteRanges()
        var lease: Range<Int64>?
        if let total = record.resume.total, let file {
            missing = file.written.missing(in: 0..<total)
            let position = scout.position
            lease = position..<(head.status == 206 ? end(of: scout) : total)
            missing.remove((head.status == 206 ? scout.judge.start : 0)..<position)
            if joint?.way == .compared { missing = ByteRanges([position..<max(position, total)]) }
            if let lease { missing = missing.union(ByteRanges([lease])) }
        }
        let canSplit =
            head.status == 206 && (validators.ifRange != nil || pool != nil || isKnownBySizeAndTime && isOld)
            && record.resume.total != nil && joint?.way != .compared
        let isHTTP = record.source.isHTTP
        let request = record.request
        let wish = request.hasFixedConnections ? request.connections : isHTTP ? nil : 1
        return SegmentPlanner(
            missing: missing, first: lease.map { (scout.connection, $0) },
            wish: canSplit ? wish : 1, automaticLimit: request.connectionLimit ?? SegmentPlanner.automaticLimit,
            knowledge: context.hosts.knowledge(of: origin, at: context.time.date),
            lossLimit: record.request.retry.limit,
            fruitlessLimit: RequestBudget.limit(retries: record.request.retry.limit), start: pool?.usable ?? 1,
            keepsConnections: isHTTP, now: 0)
    }

    /// A file may be written to twice in a second: as with HTTP (RFC 9110 section 8.8.2.2) only a time that is past by a
    /// minute tells one version from another.
    private var isOld: Bool {
        let now = context.time.date
        let modified = validators.lastModified.flatMap { HTTPDate.parse($0, now: now) }
        return modified.map { $0.timeIntervalSince(now) <= -60 } ?? false
    }

    /// Without HTTP a server that has connections enough refuses the login, or closes the next one at once. Those that it
    /// took go on; the only one is asked for again, for the server may still count one that has just ended.
    /// - Returns: nil where it failed for another reason.
    func refusal(
        of segment: SegmentWriter, _ error: DownloadError, _ work: SegmentWork
    ) async throws -> SegmentPlanner.Ending? {
        guard !work.url.isHTTP, segment.head == nil else { return nil }
        switch error {
        case .authenticationFailed: break
        case .networkFailed(.connect, let diagnosis), .networkFailed(.connectionLost, let diagnosis):
            // Else it is the network that failed, not the server.
            if segments.isEmpty, diagnosis.errno != 0 { return nil }
        default: return nil
        }
        if !segments.isEmpty { return .refused }
        guard work.patience > 0 else {
            // The same login was good enough for the first one.
            throw DownloadError.networkFailed(
                .connect, TransportDiagnosis(code: 0, message: "the server takes no more connections: \(error)"))
        }
        work.patience -= 1
        try await wait(until: context.time.now + .seconds(1))
        work.isPulseDue = false
        return .cut
    }

    /// What other sessions found out about the host; asked for where it may make a difference, once.
    func recall(_ origin: String) async {
        guard !record.request.hasFixedConnections,
            record.resume.total.map({ $0 >= ConnectionRamp.leastSize }) ?? false,
            context.hosts.knowledge(of: origin, at: context.time.date) == nil
        else { return }
        // A store that fails here costs only time.
        context.hosts.recall(try? await context.store.knowledge(ofHost: origin), of: origin)
    }

    func remember(_ knowledge: HostKnowledge?, _ work: SegmentWork) async {
        guard let knowledge else { return }
        // The next session finds it out anew where the store fails.
        try? await context.store.learn(knowledge, ofHost: work.url.origin)
    }
}
