import Foundation

/// How many connections there are to be, by what is known of the host.
extension DownloadRunner {
    /// Several connections only where a strong validator makes sure that they fetch the same version.
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
            head.status == 206 && (validators.ifRange != nil || pool != nil) && record.resume.total != nil
            && joint?.way != .compared
        let asked = record.request.connections
        return SegmentPlanner(
            missing: missing, first: lease.map { (scout.connection, $0) },
            wish: canSplit ? (asked == DownloadRequest.automaticConnections ? nil : asked) : 1,
            knowledge: context.hosts.knowledge(of: origin, at: Date()),
            lossLimit: record.request.retry.limit, start: pool?.usable ?? 1, now: 0)
    }

    /// What other sessions found out about the host; asked for where it may make a difference, once.
    func recall(_ origin: String) async {
        guard record.request.connections == DownloadRequest.automaticConnections,
            record.resume.total.map({ $0 >= ConnectionRamp.leastSize }) ?? false,
            context.hosts.knowledge(of: origin, at: Date()) == nil
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
