import DownloadCore
import DownloadSystem

/// The documents with digests that a session asks for (``ProofPlan``). The files of a folder share the answers. A
/// server gets one such request at a time, and none after it has refused one or has not answered.
actor ProofDocuments {
    private struct Kept {
        let asked: DownloadRequest
        let answer: Result<ProofDocument, DownloadError>
        let end: ContinuousClock.Instant
        var isDocument: Bool { if case .success = answer { true } else { false } }
    }

    /// The number of documents that are kept. A document has at most 1 MiB (``ChecksumList/largest``).
    private static let mostKept = 16
    /// The number of answers without a document that are kept.
    private static let mostMissing = 256
    /// The age from which an answer is asked for again. A session may run for weeks, and a list gets new files.
    private static let lifetime = Duration.seconds(600)
    /// The number of servers that are left alone. Beyond it, all of them may be asked again.
    private static let mostSilent = 1000
    /// The age of a request without an answer from which its server counts as silent when a file gives up waiting.
    private static let silence = Duration.seconds(1)

    private let parts: SessionParts
    private let transport: any Transport
    private let userAgent: String
    /// The answers of all servers, the last used one at the end.
    private var kept: [Kept] = []
    /// The last task in the queue of each origin.
    private var turns: [String: Task<Void, Never>] = [:]
    /// When the running request to each origin began.
    private var begun: [String: ContinuousClock.Instant] = [:]
    /// The origins that are not asked, and until when.
    private var silent: [String: ContinuousClock.Instant] = [:]

    init(_ parts: SessionParts, _ transport: any Transport, userAgent: String) {
        (self.parts, self.transport, self.userAgent) = (parts, transport, userAgent)
    }

    /// Returns a document that counts with a signature only. The answer may be from an earlier request, unless `fresh`
    /// is true. Then caches on the way are told to ask the server, too.
    /// - Parameter final: The URL to which the file was redirected.
    func document(
        _ url: SourceURL, like request: DownloadRequest, redirectedTo final: SourceURL?, fresh: Bool
    ) async -> Result<ProofDocument, DownloadError> {
        let asked = ProofPlan.request(for: url, like: request, redirectedTo: final)
        return await inTurn(at: url.origin) { await self.ask(asked, fresh: fresh) }
    }

    /// Performs the plan for the file of a request.
    func search(_ plan: ProofPlan, for request: DownloadRequest, fresh: Bool) async -> ProofPlan.Outcome {
        guard let origin = plan.next?.origin else { return plan.outcome }
        return await inTurn(at: origin) { await self.perform(plan, for: request, fresh: fresh) }
    }

    /// Whether nothing more is asked at an origin.
    func isSilent(_ origin: String) -> Bool { silent[origin].map { parts.time.now < $0 } ?? false }

    /// Handles the end of a file's patience. If the server has not answered a request meanwhile, it is left alone, and
    /// the documents of this folder are not asked for a day.
    func giveUp(on origin: String, _ folder: String, _ open: Set<String>) async {
        guard let begin = begun[origin], parts.time.now - begin >= Self.silence else { return }
        leaveAlone(origin)
        await remember(open, of: folder, await known(of: folder))
    }

    /// Returns what is recorded about a folder. If the store fails, the documents are only asked again.
    private func known(of folder: String) async -> FolderKnowledge? {
        let recorded: FolderKnowledge? = try? await parts.store.knowledge(of: folder)
        return recorded.flatMap { $0.isFresh(at: parts.time.date) ? $0 : nil }
    }

    private func remember(_ missing: Set<String>, of folder: String, _ known: FolderKnowledge?) async {
        if missing.isEmpty { return }
        // All entries expire with the oldest one, so none is believed for more than a day.
        let knowledge = FolderKnowledge(
            missing: missing.union(known?.missing ?? []), learned: known?.learned ?? parts.time.date)
        try? await parts.store.learn(of: folder) { _ in knowledge }
    }

    /// Remembers which documents the folder does not have.
    private func perform(_ plan: ProofPlan, for request: DownloadRequest, fresh: Bool) async -> ProofPlan.Outcome {
        var plan = plan
        let known = await known(of: plan.folder)
        plan.skip(known?.missing ?? [])
        while let url = plan.next, !Task.isCancelled {
            plan.handle(await ask(ProofPlan.request(for: url, like: request), fresh: fresh))
        }
        await remember(plan.missing, of: plan.folder, known)
        return plan.outcome
    }

    private func ask(_ request: DownloadRequest, fresh: Bool) async -> Result<ProofDocument, DownloadError> {
        var asked = request
        let url = asked.url
        if !fresh, let answer = recall(asked) { return answer }
        // An answer about another document is no answer about this one.
        let isRequired = asked.proof == .require || !asked.signedBy.isEmpty
        if !isRequired, isSilent(url.origin) {
            return .failure(.networkFailed(.timedOut, TransportDiagnosis(code: 0, message: url.string)))
        }
        begun[url.origin] = parts.time.now
        defer { begun[url.origin] = nil }
        if fresh { asked.headers = [RequestHeader(name: "Cache-Control", value: "no-cache")] }
        let fetch = DocumentFetch(
            asked, over: transport, userAgent: userAgent, largest: ChecksumList.largest,
            strictHosts: parts.strictHosts, time: parts.time)
        let answer = await fetch.once(within: ProofPlan.timeLimit)
        if !Task.isCancelled { learn(answer, from: asked, isRequired: isRequired) }
        return answer
    }

    /// Returns the answer to the same question, over the same way and with the same trust.
    private func recall(_ asked: DownloadRequest) -> Result<ProofDocument, DownloadError>? {
        guard let index = kept.firstIndex(where: { Self.isSame($0.asked, asked) }) else { return nil }
        let known = kept.remove(at: index)
        guard known.end > parts.time.now else { return nil }
        kept.append(known)
        return known.answer
    }

    private static func isSame(_ one: DownloadRequest, _ other: DownloadRequest) -> Bool {
        one.url == other.url && one.trust == other.trust && one.network == other.network
            && one.redirect == other.redirect
    }

    private func learn(_ answer: Result<ProofDocument, DownloadError>, from asked: DownloadRequest, isRequired: Bool) {
        if case .failure(let error) = answer, ProofPlan.isRefusal(error, isRequired: isRequired) {
            return leaveAlone(asked.url.origin)
        }
        kept.removeAll { Self.isSame($0.asked, asked) }
        kept.append(Kept(asked: asked, answer: answer, end: parts.time.now + Self.lifetime))
        let last = kept[kept.count - 1]
        let alike = kept.indices.filter { kept[$0].isDocument == last.isDocument }
        if alike.count > (last.isDocument ? Self.mostKept : Self.mostMissing) { kept.remove(at: alike[0]) }
    }

    private func leaveAlone(_ origin: String) {
        if silent.count >= Self.mostSilent { silent = [:] }
        silent[origin] = parts.time.now + Self.lifetime
    }

    /// Runs work after all earlier work for the origin has ended.
    private func inTurn<Value: Sendable>(
        at origin: String, _ work: @escaping @Sendable () async -> Value
    ) async -> Value {
        let before = turns[origin]
        let task = Task {
            await before?.value
            return await work()
        }
        let end = Task { _ = await task.value }
        turns[origin] = end
        defer { if turns[origin] == end { turns[origin] = nil } }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
