import DownloadCore

/// The step that looks for a digest beside the file (``ProofPlan``), while the file is being fetched.
struct ProofSearch: AttemptPhase {
    let attempt: Attempt

    /// The state of the search. It is a part of the attempt.
    struct State {
        /// The number of the search. Only the result of the last search counts, because an earlier search may have been
        /// for another version of the file.
        fileprivate var number = 0
        fileprivate var task: Task<Void, Never>?
        fileprivate var hasBegun = false

        /// Ends the search. Another one may follow, for another version of the file.
        mutating func forget() {
            task?.cancel()
            (task, hasBegun, number) = (nil, false, number + 1)
        }
    }

    /// The time for which the end of a download waits for the search.
    private static let patience = Duration.seconds(2)

    /// Begins the search, if the file is to be looked up.
    @inline(never)
    func begin() {
        guard !attempt.search.hasBegun, context.stream == nil, context.adapter == nil, let plan = ProofPlan(for: record)
        else { return }
        attempt.search.hasBegun = true
        attempt.search.task = Task { [request = record.request, context, control, number = attempt.search.number] in
            let outcome = await plan.performed(for: request, in: context)
            control.send(.proofCame(outcome, search: number))
        }
    }

    /// Records the result of the search. A digest is computed from the first byte on, a little behind the writes.
    func end(_ outcome: ProofPlan.Outcome, number: Int) {
        guard attempt.search.task != nil, attempt.search.number == number else { return }
        attempt.search.task = nil
        record.resume.proof = outcome
        guard outcome.found != nil else { return }
        attempt.local.digest = nil
        attempt.startDigest()
    }

    /// Waits for the result of the search, for a short time only. No transfer may run.
    func wait() async throws {
        begin()
        guard attempt.search.task != nil else { return }
        let alarm = attempt.send(.waitIsOver, at: context.time.now + Self.patience)
        defer { alarm.cancel() }
        while let task = attempt.search.task {
            guard case .waitIsOver = try await attempt.nextMessage() else { continue }
            task.cancel()
            attempt.search.task = nil
        }
    }
}

extension ProofPlan {
    /// Performs the search. Remembers which documents the folder does not have.
    fileprivate func performed(for request: DownloadRequest, in context: AttemptContext) async -> Outcome {
        var plan = self
        // If the store fails, the documents are only asked again.
        let known = try? await context.store.knowledge(ofFolder: folder)
        let fresh = known.flatMap { $0.isFresh(at: context.time.date) ? $0 : nil }
        plan.skip(fresh?.missing ?? [])
        while let url = plan.next, !Task.isCancelled {
            plan.handle(await context.document(url, like: request))
        }
        if !plan.missing.isEmpty {
            // All entries expire with the oldest one, so none is believed for more than a day.
            let knowledge = FolderKnowledge(
                missing: plan.missing.union(fresh?.missing ?? []), learned: fresh?.learned ?? context.time.date)
            try? await context.store.learn(knowledge, ofFolder: folder)
        }
        return plan.outcome
    }
}

extension AttemptContext {
    /// Fetches a small document about the file of a request, such as a list of digests.
    func document(_ url: SourceURL, like request: DownloadRequest) async -> Result<[UInt8], DownloadError> {
        let fetch = DocumentFetch(
            ProofPlan.request(for: url, like: request), over: transport, userAgent: requests.userAgent,
            largest: ChecksumList.largest, strictHosts: strictHosts, sendsCredentials: false, time: time)
        return await fetch.once(within: ProofPlan.timeLimit)
    }
}
