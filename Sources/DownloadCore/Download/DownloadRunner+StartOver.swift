import Foundation

/// What an attempt does when its first answer, or what is here, turns out to be something else.
extension DownloadRunner {
    /// A remote that changes again and again is not fetched for ever.
    static let restartLimit = 3

    /// Does what the end of a round of transfers asks for.
    /// - Parameter restart: how many rounds there were before.
    /// - Returns: whether there is nothing to fetch any more; else another round begins.
    /// - Throws: what ends the attempt.
    @inline(never)
    func ends(after error: any Error, restart: Int) async throws -> Bool {
        guard let end = error as? RoundEnd else { throw error }
        switch end {
        case .stopped: throw end
        case .continuable(let found):
            await endSegments()
            return try await adopt(found)
        case .alreadyThere(let file):
            await endSegments()
            record.completed = try await verified(file)
            return true
        case .stale(let error):
            if restart > 0 { throw error }
            await endSegments()
        case .misplaced(let why):
            if restart == Self.restartLimit { throw DownloadError.verificationFailed(.changed(why)) }
            await endSegments()
            if try await !forgetsHoles() { try await distrustRanges(why) }
        case .changed(let why):
            if restart == Self.restartLimit { throw DownloadError.verificationFailed(.changed(why)) }
            await endSegments()
            try await replace(why: why)
        }
        return false
    }

    /// Everything there was belongs to another version, unless it was to be continued from another address. The record
    /// forgets it, durably, before the file does: otherwise a crash or a loss of power in between would leave bytes of
    /// the new version under the ranges and validators of the old one.
    func startOver(why: String) async throws(DownloadError) {
        if record.resume.movedFrom != nil, !record.resume.written.isEmpty {
            if record.resume.movedFrom == record.request.url, let path = file?.path {
                throw .verificationFailed(.notItsBeginning(path: path, why: why))
            }
            throw .verificationFailed(.otherFile(why))
        }
        await finishCheckpoint()
        var forgetful = record
        forgetful.resume = record.startedOver
        if isMirror {
            // What the URL said of the file still holds.
            forgetful.resume.digest = record.resume.digest
        } else {
            forgetful.request.forgetDescription()
        }
        forgetful.resume.file = record.resume.file
        forgetful.isFinishing = false
        try await save(forgetful, durably: true)
        record = forgetful
        joint = nil
        inherited = ByteRanges()
        FaultPoint.reached("beforeTruncate")
        if let file {
            file.notifyWrites(nil)
            try await context.disk.onWriter { () throws(DownloadError) in try file.startOver() }
            FaultPoint.reached("afterTruncate")
        }
        digest?.abandon()
        digest = nil
        control.show(received: 0)
        control.show(record)
        let told = RequestSecrets(record.request, secrets).hidden(in: why)
        context.announce(.didRestart(DownloadSnapshot(record: record), why: told))
    }
}
