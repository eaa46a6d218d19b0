import DownloadCore

/// Recovery from a round of transfers that ended before the whole file had come.
extension AttemptTask {
    /// The most rounds that follow the first round if the file keeps changing.
    private static let roundLimit = 3

    /// Prepares another round, or throws `end` if no other round follows.
    /// - Parameter round: The number of rounds before the round that ended.
    @inline(never)
    func recover(from end: RoundEnd, round: Int) async throws {
        switch end {
        case .stopped: throw end
        case .partsUnusable: if attempt.distrustsRanges { throw end }
        case .changed, .misplaced: if round == Self.roundLimit { throw end }
        }
        await attempt.endTransfers()
        switch end {
        case .stopped: break
        case .partsUnusable(let error):
            (attempt.distrustsRanges, attempt.partsError) = (true, error)
            attempt.announceRestart(.partsUnusable)
        case .changed(let why): try await attempt.replace(why: why)
        case .misplaced(let why): if try await !forgetHoles() { try await distrustRanges(why) }
        }
    }

    /// Returns whether another program removed bytes from the partial file. In that case no answer was misplaced, and
    /// the removed bytes are forgotten.
    private func forgetHoles() async throws(DownloadError) -> Bool {
        guard let file, let total = record.resume.total else { return false }
        await attempt.finishCheckpoint()
        let isDamaged = try await context.disk.onWriter { () throws(DownloadError) in
            let written = file.written
            guard try !file.cutOff(before: total, margin: 0).intersection(written).isEmpty else { return false }
            file.forget(try file.cutOff(before: total))
            file.forgetDifference()
            return true
        }
        guard isDamaged else { return false }
        attempt.restartDigest()
        try await saveLoss()
        attempt.announceRestart(.other("another program cut off bytes, which are fetched again"))
        return true
    }

    /// Gives up all bytes that this attempt brought, because nothing shows which of them were misplaced. From now on
    /// the file is requested in one answer, without a range. The bytes of earlier attempts are compared with that
    /// answer, and dropped only if they differ.
    private func distrustRanges(_ why: String) async throws(DownloadError) {
        await attempt.finishCheckpoint()
        let inherited = attempt.local.inherited
        if let file {
            attempt.forget(inherited.missing(in: 0..<file.written.end).intersection(file.written))
            file.forgetDifference()
        }
        if attempt.transfers.sources.isMixed { attempt.record.resume.changeSources { $0.beAlone() } }
        try await saveLoss()
        // If bytes of earlier attempts came from another source, the mirror may have another file, so the mirror fails.
        if record.isMirror, !inherited.isEmpty { throw .verificationFailed(.otherMirror(why)) }
        attempt.distrustsRanges = true
        attempt.announceRestart(
            .other("the server sent a part from another place than it said; the file is fetched again in one answer"))
    }

    /// Saves durably that bytes were given up, so that the store no longer lists them.
    private func saveLoss() async throws(DownloadError) {
        attempt.enterRanges()
        try await attempt.save(durably: true)
        control.show(received: record.received)
    }
}
