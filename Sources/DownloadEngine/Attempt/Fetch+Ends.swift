import DownloadCore

/// The handling of ended transfers: what follows for the connection and for its source.
extension Fetch {
    /// Handles the message that a transfer has ended. The connection of the transfer continues, or other connections
    /// get the bytes that the transfer did not bring.
    @inline(never)
    func settle(_ message: AttemptControl.Message) async throws {
        guard case .segmentFinished(let segment, let result) = message else { return }
        var position = await attempt.forgetDoubtful(of: segment, result)
        // The bytes before `countedStart` are only compared. They belong to the range of another connection.
        if position == segment.position { position = max(position, segment.countedStart) }
        try await checkEdges(of: segment, upTo: position)
        reportAnswer(of: segment)
        let total = record.resume.total
        let end = segment.end(of: total)
        let hasAll = total != nil && position >= end
        let hasProgressed = RequestBudget.isProgress(
            position - segment.countedStart, of: max(1, end - segment.countedStart))
        let ending = try await ending(
            attempt.ended(segment, result, hasAll: hasAll).outcome, of: segment, hasProgressed: hasProgressed)
        if ending == .complete { try attempt.learnDigest(of: segment, result) }
        if ending == .complete, total != nil, !hasAll { lastError = TransferOutcome.tooShort }
        try follow(.ended(segment.connection, position: position, ending))
        guard let cap = planner.cap, cap != savedCap else { return }
        savedCap = cap
        await remember(share?.refused(serving: cap, at: context.time.date))
    }

    private func ending(
        _ outcome: TransferOutcome, of segment: SegmentWriter, hasProgressed: Bool
    ) async throws -> SegmentPlanner.Ending {
        recordBrought(by: segment)
        let source = sources.member(of: segment.connection)
        if case .redirected = outcome {} else { sources.endRenewal(by: segment.connection) }
        switch outcome {
        case .lost, .declined, .changed, .failed:
            // A server behind another address may be down, or have another version of the file. That is no failure of
            // the download, because the connection goes on with another address.
            let isDirected = origins[segment.connection]?.isDirected ?? false
            let isDeclined = if case .lost = outcome { false } else { true }
            if !hasProgressed, isDirected, planner.leaveAddress(of: segment.connection, isDeclined: isDeclined) {
                return .cut
            }
        case .complete, .cut, .stopped, .redirected, .fileRefused: break
        }
        switch outcome {
        case .complete:
            guard let head = segment.head else { return .complete }
            sources.note(Validators(head: head, now: context.time.date), of: source)
            return .complete
        case .cut: return .cut
        case .stopped: throw RoundEnd.stopped
        case .fileRefused:
            try attempt.requireWritten()
            return .lost
        case .redirected(let location):
            do throws(DownloadError) {
                try sources.follow(
                    segment.head?.status ?? 302, to: location, by: segment.connection, of: record.request)
                return .cut
            } catch {
                sources.endRenewal(by: segment.connection)
                return try await ending(error, true, of: segment, hasProgressed: false)
            }
        case .lost(let error): return try await ending(error, false, of: segment, hasProgressed: hasProgressed)
        case .declined(let error): return try await ending(error, true, of: segment, hasProgressed: hasProgressed)
        case .changed(let why) where sources.isShared: return try fail(source, .verificationFailed(.otherMirror(why)))
        case .failed(let error) where sources.isShared: return try fail(source, error)
        case .changed, .failed: throw outcome.error ?? RoundEnd.stopped
        }
    }

    /// Returns what follows after a connection was lost, or was answered without the requested bytes.
    private func ending(
        _ error: DownloadError, _ isDeclined: Bool, of segment: SegmentWriter, hasProgressed: Bool
    ) async throws -> SegmentPlanner.Ending {
        lastError = error
        let source = sources.member(of: segment.connection)
        let url = sources.members[source].route.url
        if isDeclined { attempt.serverPause = segment.head.flatMap { ServerPause($0, url, now: context.time.date) } }
        let failed = FailedConnection(
            error: error, isDeclined: isDeclined, status: segment.head?.status, hasProgressed: hasProgressed,
            hasOthers: running.contains { sources.member(of: $0.connection) == source },
            mayAskAgain: attempt.mayAskAgain, isHTTP: url.isHTTP,
            link: sources.link(of: segment.connection, of: record.request))
        switch failed.decision {
        case .end(let ending): return ending
        case .renewLink:
            sources.renew(source, by: segment.connection, of: record.request)
            return .cut
        case .limit where sources.isShared:
            let others = running.count { sources.member(of: $0.connection) == source }
            sources.members[source].share?.refused(serving: others, at: context.time.date)
            sources.limit(source, to: others, without: segment.connection)
            return sources.hasRoom(beside: attempt.transfers.connections) ? .cut : .unfit
        case .limit: return .refused
        case .fail(let isFinal) where sources.isShared: return try fail(source, error, isFinal: isFinal)
        case .fail where mayStillCount(segment, error, isDeclined):
            return try await askLater(error)
        case .fail: throw error
        case .requestWhole where sources.isShared: return try fail(source, error)
        case .requestWhole:
            attempt.distrustsTotal = segment.head.map(ContentRange.exceedsTotal) ?? false
            throw RoundEnd.partsUnusable(error)
        }
    }

    /// Returns whether the server may have refused the only connection because it still counts one that has just ended.
    /// A file server refuses the login then, or closes the connection at once.
    private func mayStillCount(_ segment: SegmentWriter, _ error: DownloadError, _ isDeclined: Bool) -> Bool {
        if sources.members[0].route.url.isHTTP {
            return isDeclined && record.lastAttempt.connections > 1 && patience > 0
        }
        guard segment.head == nil else { return false }
        return switch error {
        case .authenticationFailed: true
        // If the system reported an error number, the network failed, and the server did not refuse the connection.
        case .networkFailed(.connect, let diagnosis), .networkFailed(.connectionLost, let diagnosis):
            diagnosis.errno == 0
        default: false
        }
    }

    /// Waits before the only connection asks again. Throws if the server has refused it too often.
    private func askLater(_ error: DownloadError) async throws -> SegmentPlanner.Ending {
        guard patience > 0 else {
            // The same login worked for the first connection, so the error is not reported as a refused login.
            throw DownloadError.networkFailed(
                .connect, TransportDiagnosis(code: 0, message: "the server accepts no more connections: \(error)"))
        }
        patience -= 1
        endPulse()
        try await attempt.wait(until: context.time.now + .seconds(1))
        return .cut
    }

    /// Records the failure of a source. Throws if no source is left.
    /// - Parameter isFinal: Whether one such failure is enough to stop using the source.
    private func fail(
        _ index: Int, _ error: DownloadError, isFinal: Bool = true
    ) throws(DownloadError) -> SegmentPlanner.Ending {
        lastError = error
        if sources.fail(index, error.description, isFinal: isFinal) { recordFailure(of: index) }
        if sources.usable == 0 { throw error }
        return .cut
    }

    private func recordFailure(of index: Int) {
        let member = sources.members[index]
        record.resume.changeSources { book in book.change(member.url.string) { $0.failure = member.failure } }
    }

    private func recordBrought(by segment: SegmentWriter) {
        let brought = segment.brought
        if !brought.isEmpty { sources.note(brought, from: sources.member(of: segment.connection)) }
    }

    /// Fetches a piece again that does not match its digest, and stops using the sources that brought it.
    func fetchAgain(_ piece: Int) throws {
        guard let verifier = attempt.local.verifier, let pieces = record.request.pieces, let total = record.resume.total
        else { return }
        let range = pieces.range(piece, size: total)
        for segment in running { recordBrought(by: segment) }
        let guilty = sources.blame(piece, range)
        attempt.forget(ByteRanges([range]))
        verifier.recheck(piece)
        for index in guilty { recordFailure(of: index) }
        if sources.usable == 0 {
            throw DownloadError.verificationFailed(
                .unverifiable("no source has the right bytes for the piece at offset \(range.lowerBound)"))
        }
        for segment in running where guilty.contains(sources.member(of: segment.connection)) {
            segment.shorten(to: segment.position)
        }
        planner.restore(range)
        try follow(.tick)
    }

    /// Waits for the digests of all pieces that have come. Returns whether every piece matches.
    func piecesAreRight() async throws -> Bool {
        guard let verifier = attempt.local.verifier else { return true }
        await context.disk.afterWrites()
        try await verifier.settle()
        try attempt.obeyStop()
        control.send(.delivered)
        var isRight = true
        while true {
            let message = try await attempt.nextMessage()
            switch message {
            case .delivered: return isRight
            case .pieceFailed(let piece):
                isRight = false
                try fetchAgain(piece)
            case .segmentFinished: try await settle(message)
            case .pulse: endPulse()
            default: break
            }
        }
    }
}
