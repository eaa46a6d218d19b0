import DownloadCore
import DownloadSystem

/// The step that looks for a digest beside the file (``ProofPlan``), while the file is being fetched.
struct ProofSearch: AttemptPhase {
    let attempt: Attempt

    /// The state of the search. It is a part of the attempt.
    struct State {
        /// The number of the search. Only the result of the last search counts, because an earlier search may have been
        /// for another version of the file.
        fileprivate var number = 0
        fileprivate var task: Task<Void, Never>?
        /// The origin that is asked.
        fileprivate var origin = ""
        /// The folder whose documents are asked, and the names of these documents.
        fileprivate var folder = ("", Set<String>())
        fileprivate var hasBegun = false
        /// Whether the document with the digest was read once more, because it contradicts the file.
        fileprivate var isSecond = false
        /// Why the finished file of an earlier run has no good signature. Then the server is asked for a new version.
        var unsigned: DownloadError?

        /// Ends the search. Another one may follow, for another version of the file.
        mutating func forget() {
            task?.cancel()
            (task, hasBegun, isSecond, number) = (nil, false, false, number + 1)
        }
    }

    /// The time for which the end of a download waits for the search. If the user requires a proof, the end waits for
    /// each answer, at most for ``ProofPlan/timeLimit``.
    private static let patience = Duration.seconds(2)

    /// Begins the search, if the file is to be looked up.
    @inline(never)
    func begin() {
        guard !attempt.search.hasBegun, context.stream == nil, context.adapter == nil else { return }
        run(ProofPlan(for: record), fresh: false)
    }

    private func run(_ plan: ProofPlan?, fresh: Bool) {
        guard let plan, let origin = plan.next?.origin else { return }
        (attempt.search.hasBegun, attempt.search.origin) = (true, origin)
        attempt.search.folder = (plan.folder, plan.open)
        attempt.search.task = Task {
            [request = record.request, documents = context.proofs, control, number = attempt.search.number] in
            let outcome = await documents.search(plan, for: request, fresh: fresh)
            control.send(.proofCame(outcome, search: number))
        }
    }

    /// Records the result of the search. A digest is computed from the first byte on, a little behind the writes.
    func end(_ outcome: ProofPlan.Outcome, number: Int) {
        guard attempt.search.task != nil, attempt.search.number == number else { return }
        attempt.search.task = nil
        // Only another digest takes the place of one that contradicts the file.
        if attempt.search.isSecond, outcome.found == nil { return }
        record.resume.proof = outcome
        guard outcome.found != nil else { return }
        attempt.local.digest = nil
        attempt.startDigest()
    }

    /// Waits for the result of the search, for a short time only. No transfer may run.
    func wait() async throws {
        begin()
        try await finish()
    }

    private func finish() async throws {
        guard attempt.search.task != nil else { return }
        if record.request.proof == .require { return try await finishAtLast() }
        if await context.proofs.isSilent(attempt.search.origin) { return giveUp() }
        let end = context.time.now + Self.patience
        let alarm = attempt.send(.waitIsOver, at: end)
        defer { alarm.cancel() }
        while attempt.search.task != nil {
            guard try await isWaitOver(end) else { continue }
            let (folder, open) = attempt.search.folder
            await context.proofs.giveUp(on: attempt.search.origin, folder, open)
            giveUp()
        }
    }

    private func finishAtLast() async throws {
        while attempt.search.task != nil { _ = try await attempt.nextMessage() }
    }

    /// Handles a message. A file whose bytes have all come does not exceed its time limit only because of the search.
    private func isWaitOver(_ end: ContinuousClock.Instant) async throws -> Bool {
        do {
            // An earlier wait may have left its alarm.
            if case .waitIsOver = try await attempt.nextMessage() { return context.time.now >= end }
            return false
        } catch let error as DownloadError where error == attempt.overdue {
            return true
        }
    }

    private func giveUp() {
        attempt.search.task?.cancel()
        attempt.search.task = nil
    }

    /// Handles a digest found beside the file that contradicts the file. Its document is read once more, because a
    /// cache may have sent an old one. A document that is older than the file is about an earlier version.
    /// - Returns: Whether another digest was found, or the digest does not count.
    func reconsider() async throws -> Bool {
        guard let found = record.resume.proof?.found else { return false }
        if !attempt.search.isSecond {
            attempt.search.isSecond = true
            run(ProofPlan.again(for: record), fresh: true)
            try await finish()
            if record.resume.proof?.found != found { return true }
        }
        let validators = record.resume.validators
        return record.resume.proof?.ignoreIfStale(validators, now: context.time.date) ?? false
    }
}
