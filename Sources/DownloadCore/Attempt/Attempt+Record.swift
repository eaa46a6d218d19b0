/// What the attempt enters into its record, and when the store gets it.
extension Attempt {
    /// Saves the record after the checkpoint that is under way: an older record must not replace a newer one, such as one
    /// with the name of the file.
    /// - Parameter other: saved in the place of the record.
    func save(_ other: DownloadRecord? = nil, durably: Bool = false) async throws(DownloadError) {
        await finishCheckpoint()
        record.updated = context.time.date
        let lost: Set<DownloadID>
        do {
            lost = try await context.store.save([other ?? record], session: context.session, durably: durably)
        } catch {
            throw error as? DownloadError ?? .unexpected("\(error)")
        }
        if lost.contains(record.id) { throw disowned }
    }

    /// Applies the change of a message, which the session made while the attempt runs. The change is saved before it is
    /// answered.
    @inline(never)
    func applyChange(_ message: RunnerControl.Message) async {
        if case .change(let change, let answer) = message { answer.resume(returning: await apply(change)) }
    }

    private func apply(_ change: DownloadChange) async -> Bool {
        guard record.apply(change) else { return false }
        if case .rateLimit(let limit) = change { control.rateLimit.bytesPerSecond = limit }
        await finishCheckpoint()
        if local.file != nil { readFile() }
        control.show(record)
        // If the store fails, the next checkpoint asks it again, and the end of the attempt reports the failure.
        _ = try? await context.store.save([record], session: context.session)
        return true
    }

    /// Enters the ranges that the disk has into the record.
    func readFile() {
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
        control.beginRecord(connections: transfers.running.count)
        readFile()
        if let speed = checkpoints.speed(of: record, now: context.time.now) { record.speed = speed }
        record.updated = context.time.date
        control.show(record)
        checkpoints.save(record, in: context, for: control)
    }

    /// Waits for the save that is under way: what is saved afterwards comes after every checkpoint.
    func finishCheckpoint() async { await checkpoints.saving?.value }

    /// Enters how many bytes of a stream went out: no file has them.
    func recordDelivered(_ stream: StreamOutput) {
        let count = stream.written
        record.resume.written = count > 0 ? ByteRanges([0..<count]) : ByteRanges()
        checkpoints.enterReceived(into: &record)
    }

    func recordOutcome(_ outcome: String) {
        record.lastAttempt.ended = context.time.date
        record.lastAttempt.outcome = outcome
    }

    /// Enters what a transfer that has ended brought, and the cookies that it knew.
    @inline(never)
    func recordEnd(of segment: SegmentWriter, _ result: TransferResult) {
        // The cookies of the head were recorded with the head; another transfer may have changed them since.
        var known = result.cookies
        if let learned = segment.learnedCookies { known?.sent = learned }
        transfers.secrets.learn(known)
        transfers.remove(segment)
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

    /// What must be hidden in texts that a server may have sent.
    var requestSecrets: RequestSecrets { RequestSecrets(record.request, transfers.secrets) }

    /// Starts over, because the source has another file. A mirror is wrong then, and the URL of the request is right.
    func replace(why: String) async throws(DownloadError) {
        if sourceCheck != nil, record.isMirror { throw .verificationFailed(.otherMirror(why)) }
        try await startOver(why: why)
    }

    /// Forgets everything that is here, because it belongs to another version. A file that was to be continued from
    /// another URL is an error instead. The record forgets it, durably, before the file does: otherwise a crash or a loss
    /// of power in between would leave bytes of the new version under the ranges and validators of the old one.
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
            // What the URL said of the file still holds.
            forgetful.resume.digest = record.resume.digest
        } else {
            forgetful.request.forgetDescription()
        }
        forgetful.resume.file = record.resume.file
        forgetful.isFinishing = false
        try await save(forgetful, durably: true)
        record = forgetful
        sourceCheck = nil
        local.inherited = ByteRanges()
        local.digest = nil
        FaultPoint.reached("beforeTruncate")
        if let file = local.file {
            try await context.disk.onWriter { () throws(DownloadError) in try file.startOver() }
            FaultPoint.reached("afterTruncate")
        }
        show(received: 0)
        announceRestart(requestSecrets.hidden(in: why))
    }

    func announceRestart(_ why: String) {
        context.announce(.didRestart(DownloadSnapshot(record: record), why: why))
    }

    func show(received count: Int64) {
        control.show(received: count)
        control.show(record)
    }
}

extension DownloadRecord {
    /// The record of the attempt that runs.
    var lastAttempt: AttemptRecord {
        get { attempts[attempts.count - 1] }
        _modify { yield &attempts[attempts.count - 1] }
    }
}

extension ResumeData {
    mutating func changeSources(_ change: (inout SourceBook) -> Void) {
        var book = sources ?? SourceBook()
        change(&book)
        sources = book
    }
}
