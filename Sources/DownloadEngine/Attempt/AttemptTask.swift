import DownloadCore
import DownloadSystem
import Foundation
import HTTPTypes

/// One attempt at a download, from its first request to the final name: probe, fetch, verify, commit. It is used by one
/// task.
package final class AttemptTask: AttemptPhase {
    package enum Outcome: Sendable, Equatable {
        case completed
        /// The attempt was asked to stop. Its record has the resume data, which the session saves next.
        case stopped
        indirect case failed(DownloadError, retryAfter: ServerPause?)
        /// The attempt failed, but the program of the hook `urlCommand` has printed a new URL for the download.
        indirect case renewed(DownloadError)
    }

    let attempt: Attempt
    private let probe: Probe
    private let naming: Naming
    private let started: Date

    /// - Parameters:
    ///   - probe: The first transfer, if it has begun already.
    ///   - started: The time at which the first transfer began.
    package init(
        record: DownloadRecord, context: AttemptContext, control: AttemptControl, prefersMultiplexing: Bool,
        deadline: ContinuousClock.Instant? = nil, probe begun: SegmentWriter? = nil, started: Date? = nil
    ) {
        self.started = started ?? context.time.date
        attempt = Attempt(
            record: record, context: context, control: control, prefersMultiplexing: prefersMultiplexing,
            deadline: deadline)
        probe = Probe(attempt, begun: begun)
        naming = Naming(attempt)
    }

    package var record: DownloadRecord { attempt.record }

    package func run() async -> Outcome {
        let alarm = begin()
        let outcome: Outcome
        do {
            try await work()
            attempt.recordOutcome(AttemptRecord.completed)
            outcome = .completed
        } catch {
            outcome = await end(with: error)
        }
        alarm?.cancel()
        release()
        await attempt.close()
        return outcome
    }

    /// Enters the attempt into the record. Returns the task that ends the attempt at the request's time limit.
    @inline(never)
    private func begin() -> Task<Void, Never>? {
        attempt.record.attempts.append(AttemptRecord(started: started))
        if record.attempts.count > DownloadRecord.attemptsKept { attempt.record.attempts.removeFirst() }
        return attempt.deadline.map { attempt.send(.timeIsUp, at: $0) }
    }

    /// Closes the file explicitly. Other code may retain the file object a little longer, but the next attempt must be
    /// able to open the file.
    @inline(never)
    private func release() {
        attempt.local.close()
        attempt.search.forget()
        attempt.transfers.sources.leaveHosts()
    }

    private func work() async throws {
        if let adapter = context.adapter { try await adaptRequest(with: adapter) }
        try await prepare()
        if let stream = context.stream {
            return try await StreamDelivery(attempt: attempt, probe: probe, stream: stream).run()
        }
        if recorded({ $0.request.repairs }), try await Repair(attempt: attempt).run() { return }
        // An earlier attempt chose the name.
        if file == nil, recorded({ $0.fileName != nil }) {
            switch try await Resumption(attempt: attempt).run() {
            case .unfinished: break
            case .named: return
            case .whole:
                reportTransfersEnded()
                return try await commit()
            }
        }
        if recorded({ $0.completed != nil }) { try await Verification(attempt: attempt).verifyCompleted() }
        if let why = whyAskedWhole { try await attempt.startOver(why: why) }
        let isFetched = try await fetch()
        try attempt.saveCookies()
        reportTransfersEnded()
        if isFetched { try await commit() }
    }

    @inline(never)
    private func reportTransfersEnded() { context.transfersEnded(record.id, control) }

    /// The reason why the bytes on disk cannot be kept; nil if they can. A request with a body, or with a method other
    /// than GET, cannot ask for a part of the file.
    private var whyAskedWhole: String? {
        @inline(never) get {
            guard !record.request.isPlain, !record.resume.written.isEmpty else { return nil }
            return "a \(record.request.method.rawValue) request cannot ask for a part of a file"
        }
    }

    /// Lets the session's adapter change the request. If the adapter gives another URL, the bytes on disk are compared,
    /// as after any change of the URL.
    @inline(never)
    private func adaptRequest(with adapter: any RequestAdapter) async throws {
        var adapted = try await adapter.adapt(record.request)
        adapted.destination = record.request.destination
        if adapted.url != record.request.url { _ = attempt.record.apply(.url(adapted.url, nil)) }
        attempt.record.request = adapted
        control.show(record)
    }

    @inline(never)
    private func prepare() async throws(DownloadError) {
        try requireSecrets()
        let renewal = LinkRenewal(attempt: attempt)
        // If the command gives no other URL, the old URL is requested anyway.
        if renewal.isDue { await renewal.renew(status: nil) }
        // The URL may have changed since the download was added.
        try requireAllowed()
        if recorded({ !$0.request.signedBy.isEmpty }) { try requireKeys() }
        if recorded({ !$0.request.secretFiles.isEmpty }) { try await loadSecrets() }
        rememberCookies()
    }

    @inline(never)
    private func requireSecrets() throws(DownloadError) {
        let missing = record.request.missingSecrets
        if !missing.isEmpty { throw .requestInvalid(.missingSecrets(missing)) }
    }

    @inline(never)
    private func requireAllowed() throws(DownloadError) { try record.request.requireAllowed() }

    /// Throws if the keys cannot be used, before anything is fetched. Forgets a signature by another key.
    @inline(never)
    private func requireKeys() throws(DownloadError) {
        if context.stream != nil {
            throw .verificationFailed(.unverifiable("a stream ends before its signature can be checked"))
        }
        let keys = try SignatureCheck(for: record, context.signatures).keys
        if record.resume.signature?.isBy(keys) == false { attempt.record.resume.signature = nil }
    }

    @inline(never)
    private func loadSecrets() async throws(DownloadError) {
        attempt.transfers.secrets = try await LoadedSecrets.load(record.request.secretFiles)
    }

    @inline(never)
    private func rememberCookies() {
        attempt.transfers.secrets.memory = context.requests.memory(of: record.id, record.request)
    }

    /// Returns true when all bytes are in the partial file, or false if there is nothing to fetch.
    private func fetch() async throws -> Bool {
        for number in 0... {
            let existing: ExistingFile?
            do {
                existing = try await round()
            } catch let end as RoundEnd {
                try await recover(from: end, round: number)
                continue
            }
            guard let existing else { return true }
            if try await isComplete(existing) { return false }
        }
        return false
    }

    /// Runs one round of transfers. Returns the file that has the final name already, or nil if all bytes are in the
    /// partial file.
    private func round() async throws -> ExistingFile? {
        // If the probe was begun before this attempt, a stop is obeyed only when its message is read. The bytes of the
        // probe are kept if the probe's message (it needs a file, or has ended) comes before the stop in the queue, and
        // no Metalink document must be read first. Otherwise these bytes, one buffer at most, are lost.
        if !probe.isBegun { try attempt.obeyStop() }
        if keepsUnasked { return .current }
        if let existing = try naming.checkBeforehand() { return existing }
        if recorded({ $0.request.url.known == .file }) {
            return try await LocalCopy(attempt: attempt, probe: probe).run(naming)
        }
        guard let answer = try await probe.run() else {
            // The current file, for which the probe asked, is the partial file or a complete one.
            guard recorded({ !$0.resume.written.isEmpty }) else { return .current }
            await attempt.endTransfers()
            return nil
        }
        if let why = whyReplaced(by: answer) { try await attempt.replace(why: why) }
        try learn(from: answer)
        if let existing = try await naming.openFile(for: answer) { return existing }
        let fetch = try await Fetch.begin(attempt, answer)
        // If a digest came meanwhile, bytes from several sources would be joined in another way.
        if !attempt.transfers.sources.isShared { ProofSearch(attempt: attempt).begin() }
        try await fetch.run()
        return nil
    }

    /// Whether the file of an earlier completed run is kept without a request. If so, records the file as current.
    private var keepsUnasked: Bool {
        @inline(never) get {
            guard let file = EarlierCompletion.unasked(of: attempt.record) else { return false }
            attempt.record.keepCurrent(file)
            return true
        }
    }

    /// Returns why the answer has another version than the bytes on disk. Returns nil if it has the same version, or if
    /// the bytes will be compared.
    @inline(never)
    private func whyReplaced(by answer: ProbeAnswer) -> String? {
        guard case .newVersion(let total, let why)? = answer.segment.verdict, !attempt.comparesWhole(total) else {
            return nil
        }
        return why
    }

    @inline(never)
    private func learn(from answer: ProbeAnswer) throws(DownloadError) {
        // If the whole file is in one buffer, the remaining steps need only the disk and the store, and no slot.
        if answer.isWhole { reportTransfersEnded() }
        try probe.learn(from: answer)
    }

    /// Handles a file that has the final name already. Returns whether there is nothing left to fetch.
    @inline(never)
    private func isComplete(_ existing: ExistingFile) async throws -> Bool {
        await attempt.endTransfers()
        switch existing {
        case .current: return true
        case .kept(let file):
            attempt.record.completed = try await Verification(attempt: attempt).verified(file)
            return true
        case .unfinished(let name, let resume):
            // The partial file describes itself, so it is continued.
            (attempt.record.fileName, attempt.record.resume) = (name, resume)
            attempt.checkpoints.inherit(record)
            try await attempt.save(durably: true)
            _ = try await Resumption(attempt: attempt).run()
            return false
        case .beginning(let name, let file):
            return try await Adoption(attempt: attempt, probe: probe, naming: naming, name: name, found: file).run()
        }
    }

    /// The size in bytes above which the record is saved before the file is hashed and synced, because that takes time.
    private static let slowlyFinished: Int64 = 1 << 20

    /// Completes a file whose bytes are all written: verifies and syncs it, gives it its name and records it.
    @inline(never)
    private func commit() async throws {
        guard let file, let total = record.resume.total else {
            throw DownloadError.unexpected("nothing to finish")
        }
        try record.requireSize(total)
        control.showFinishing()
        await attempt.finishCheckpoint()
        let lost = try await context.disk.onWriter { () throws(DownloadError) in
            let lost = try file.cutOff(before: total)
            file.forget(lost)
            if lost.isEmpty { try file.cut(to: total) }
            return lost
        }
        if !lost.isEmpty { throw DownloadError.fileFailed(.truncated, path: file.path) }
        attempt.enterRanges()
        // If the process ends meanwhile, the record shows that the whole file is on disk.
        if total > Self.slowlyFinished { try await attempt.save() }
        FaultPoint.reached("beforeChecksum")
        try await Verification(attempt: attempt).verify(file, total)
        try file.requireUnwritten()
        attempt.recordOutcome(AttemptRecord.completed)
        let modified = record.resume.validators.lastModified.flatMap { HTTPDate.parse($0, now: context.time.date) }
        if record.request.destination.keepsRemoteTime, let modified { file.date(modified) }
        let rule = naming.rule(for: file, modified: modified)
        attempt.record = try await context.committer.commit(record, file, rule)
    }

    /// Syncs the file of an attempt that was asked to stop, because the machine may be switched off before the download
    /// continues, and only durable ranges are believed then. A command or signal that stops a download does not wait
    /// long for a slow disk.
    private func makeDurable() async {
        guard let file, file.unsynced > 0, file.failure == nil else { return }
        await attempt.context.disk.sync(file, atMost: .milliseconds(500))
        attempt.enterRanges()
    }

    private func end(with error: any Error) async -> Outcome {
        await attempt.endTransfers()
        if case RoundEnd.stopped = error { await makeDurable() }
        // The last checkpoint has ranges that may be lost. If this save fails too, the session saves the record next.
        if file?.hasLostSync == true {
            attempt.enterRanges()
            try? await attempt.save(durably: true)
        }
        // The error of the attempt is reported, not a failure to save the cookies.
        try? attempt.saveCookies()
        if let file, !record.resume.written.isEmpty {
            // If the file system reports no exact time, the record has no time to compare with.
            attempt.record.resume.modified =
                file.isWrittenByOthers ? ResumeData.altered : (try? file.modified()) ?? nil
            file.describe(PartialDescription(record, in: attempt.context.store.path), version: file.version)
        }
        if let file, file.written.isEmpty, file.failure != .fileFailed(.replaced, path: file.path),
            error as? DownloadError != attempt.disowned
        {
            _ = try? await attempt.context.disk.onWriter { () throws(DownloadError) in file.remove() }
            attempt.record.resume.file = nil
            attempt.record.fileName = nil
        }
        attempt.record.speed = nil
        if case RoundEnd.stopped = error {
            attempt.recordOutcome("stopped")
            return .stopped
        }
        let reason = (error as? RoundEnd)?.failure ?? error as? DownloadError ?? .unexpected("\(error)")
        let failure = reason.hiding(attempt.requestSecrets)
        attempt.recordOutcome(failure.description)
        return await LinkRenewal(attempt: attempt).outcome(of: failure)
    }
}
