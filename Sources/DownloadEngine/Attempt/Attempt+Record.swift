import DownloadCore
import DownloadSystem

extension Attempt {
    /// Saves the record. Throws if another session owns the download.
    /// - Parameter other: The record to save instead of the attempt's own record.
    func save(_ other: DownloadRecord? = nil, durably: Bool = false) async throws(DownloadError) {
        await finishCheckpoint()
        let records = records(other)
        do {
            let lost = try await context.store.save(records, session: context.session, durably: durably)
            if !lost.isEmpty { throw disowned }
        } catch {
            throw Self.failure(from: error)
        }
    }

    @inline(never)
    private func records(_ other: DownloadRecord?) -> [DownloadRecord] {
        record.updated = context.time.date
        return [other ?? record]
    }

    @inline(never)
    private static func failure(from error: any Error) -> DownloadError {
        error as? DownloadError ?? .unexpected("\(error)")
    }

    /// Applies a change that the session sent while the attempt runs. The caller gets the answer after the store was
    /// asked to save the change.
    @inline(never)
    func applyChange(_ message: AttemptControl.Message) async {
        if case .change(let change, let answer) = message { answer.resume(returning: await apply(change)) }
    }

    private func apply(_ change: DownloadChange) async -> Bool {
        guard record.apply(change) else { return false }
        if case .rateLimit(let limit) = change { control.rateLimit.bytesPerSecond = limit }
        await finishCheckpoint()
        if local.file != nil { enterRanges() }
        control.show(record)
        // If this save fails, the next checkpoint saves again. If the store still fails at the end of the attempt, the
        // failure is reported then.
        _ = try? await context.store.save([record], session: context.session)
        return true
    }

    /// Updates the record from the partial file: the ranges on disk, the identity of the file and the boot ID.
    func enterRanges() {
        guard let file = local.file else { return }
        record.resume.written = proven(file.written)
        record.resume.durable = sourceCheck.map { $0.before.intersection(file.durable) } ?? file.durable
        record.resume.file = file.identity
        record.resume.device = file.device
        record.resume.bootID = FileStatus.bootID
        checkpoints.enterReceived(into: &record)
    }

    @inline(never)
    func saveCheckpoint() {
        guard checkpoints.saving == nil, local.file != nil || checkpoints.isFirst, local.file?.differs != true else {
            return
        }
        control.beginCheckpoint(connections: transfers.running.count)
        enterRanges()
        if let speed = checkpoints.speed(of: record, now: context.time.now) { record.speed = speed }
        record.updated = context.time.date
        control.show(record)
        checkpoints.save(record, local.file, in: context, for: control)
    }

    /// Waits for the running save, so that the next save comes after all checkpoints.
    func finishCheckpoint() async { await checkpoints.saving?.value }

    /// Records how many bytes were delivered to a stream. No file has these bytes.
    func recordDelivered(_ stream: StreamOutput) {
        let count = stream.written
        record.resume.written = count > 0 ? ByteRanges([0..<count]) : ByteRanges()
        checkpoints.enterReceived(into: &record)
    }

    @inline(never)
    func recordOutcome(_ outcome: String) {
        record.lastAttempt.ended = context.time.date
        record.lastAttempt.outcome = outcome
    }

    /// Removes an ended transfer from the running transfers and records its cookies. If the download has several
    /// sources, also records how many bytes the source of the transfer brought.
    @inline(never)
    func recordEnd(of segment: SegmentWriter, _ result: TransferResult) {
        // The cookies of the head were recorded when the head came. Another transfer may have changed them since. So
        // only differences from the cookies of the head count as changes here.
        var known = result.cookies
        if let learned = segment.learnedCookies { known?.sent = learned }
        transfers.secrets.learn(known)
        transfers.remove(segment)
        control.ended(segment)
        guard record.resume.sources != nil || !record.request.mirrors.isEmpty else { return }
        let count = local.inherited.missing(in: segment.brought).count
        let sources = transfers.sources
        let url = sources.members[sources.member(of: segment.connection)].url
        record.resume.changeSources { book in book.change(url.string) { $0.received += count } }
    }

    func saveCookies() throws(DownloadError) {
        guard let jar = record.request.secretFiles.cookieJar else { return }
        try transfers.secrets.cookies.save(to: jar, now: context.time.date)
    }

    /// The secrets that must be hidden in texts which a server may have sent.
    var requestSecrets: RequestSecrets { RequestSecrets(record.request, transfers.secrets) }

    /// Starts the download over, because the source has another file than the bytes on disk. If the source is a mirror
    /// that is still being checked, throws an error instead, because the mirror is then the wrong one.
    @inline(never)
    func replace(why: String) async throws(DownloadError) {
        if sourceCheck != nil, record.isMirror { throw .verificationFailed(.otherMirror(why)) }
        try await startOver(why: why)
    }

    /// Forgets all bytes on disk, because they belong to another version. If the file was to be continued from another
    /// URL, throws an error instead. The bytes are removed from the record durably before the partial file is
    /// emptied. Otherwise, after a crash or a loss of power, the record could describe bytes of the new version with
    /// the ranges and validators of the old version.
    func startOver(why: String) async throws(DownloadError) {
        if record.resume.movedFrom != nil, !record.resume.written.isEmpty {
            if record.resume.movedFrom == record.request.url, let path = local.file?.path {
                throw .verificationFailed(.notItsBeginning(path: path, why: why))
            }
            throw .verificationFailed(.otherFile(why))
        }
        await finishCheckpoint()
        var forgetful = record
        forgetful.resume = record.startedOver
        if record.isMirror {
            // The server of the URL gave this digest, and a new version on a mirror does not change it.
            forgetful.resume.digest = record.resume.digest
        } else {
            forgetful.request.forgetDescription()
        }
        forgetful.resume.file = record.resume.file
        forgetful.isFinishing = false
        try await save(forgetful, durably: true)
        record = forgetful
        sourceCheck = nil
        search.forget()
        local.inherited = ByteRanges()
        local.digest = nil
        FaultPoint.reached("beforeTruncate")
        if let file = local.file {
            try await context.disk.onWriter { () throws(DownloadError) in try file.startOver() }
            FaultPoint.reached("afterTruncate")
        }
        show(received: 0)
        announceRestart(.other(requestSecrets.hidden(in: why)))
    }

    func announceRestart(_ why: RestartReason) {
        context.announce(.didRestart(DownloadSnapshot(record: record), why: why))
    }

    func show(received count: Int64) {
        control.show(received: count)
        control.show(record)
    }
}

extension ResumeData {
    mutating func changeSources(_ change: (inout SourceBook) -> Void) {
        var book = sources ?? SourceBook()
        change(&book)
        sources = book
    }
}
