import Foundation
import HTTPTypes

/// What the short way of small files needs of a runner, and what a runner goes on with where that way ends.
extension DownloadRunner {
    /// Nothing of it is here, and nothing is asked for but the bytes under a name that is free.
    var mayBeSmall: Bool {
        let request = record.request
        return context.stream == nil && record.fileName == nil && record.completed == nil
            && record.resume == ResumeData()
            && request.checksum == nil && request.checksums == nil && request.timeouts.total == nil
            && !request.destination.keepsRemoteTime && !request.destination.continues && request.hooks == nil
            && request.asksRanges && request.secretFiles.isEmpty
            && (request.onlyScheme ?? request.url.scheme) == request.url.scheme
            && [.fail, .rename, .skip].contains(request.destination.ifExists) && request.missingSecrets.isEmpty
    }

    /// Begins the first transfer, whose messages go to whoever attends to the control.
    func beginScout() throws {
        try checkNameBeforehand()
        let scout = try makeScout(asksRange: true, isConditional: false)
        isScoutBegun = true
        begin(scout, RequestRoute(record.request.url), conditionalOn: nil)
    }

    /// The first answer was the whole file, plainly: nothing is left to ask the server.
    func isWholeSmallFile(_ scout: SegmentWriter, _ result: TransferResult) -> Bool {
        guard result.ending == .complete, !result.exceedsLength, scout === opener,
            case .body(offset: 0, let end, let total?)? = scout.verdict
        else { return false }
        return end == total && scout.unfinished?.isEmpty == true && scout.position == total
    }

    /// The record of that file, as far as its answer tells.
    func recordOfWhole(_ scout: SegmentWriter, _ head: ResponseHead) -> DownloadRecord {
        var finished = record
        let url = record.request.url
        finished.resume.total = scout.position
        finished.resume.validators = Validators(head: head)
        finished.resume.contentType = ResponseJudge.mediaType(head)
        finished.resume.finalURL = RequestSecrets(record.request, secrets).occur(in: url) ? nil : url
        finished.resume.acceptsRanges = head.status == 206
        finished.updated = Date()
        return finished
    }

    func attemptOfWhole(_ scout: SegmentWriter, _ result: TransferResult) -> AttemptRecord {
        var attempt = AttemptRecord(started: started)
        attempt.ended = Date()
        attempt.received = scout.position
        attempt.metrics = result.metrics
        attempt.outcome = "completed"
        return attempt
    }

    /// The name that the file is to have, and nothing has yet.
    func nameOfWhole(_ head: ResponseHead, in folder: UnnamedFile.Folder) -> String? {
        let name = wantedName(head, record.request.url)
        guard FileNaming.path(folder.path, name).utf8.count < PATH_MAX, !folder.has(name),
            !folder.has(FileNaming.partial(name))
        else { return nil }
        return name
    }
}
