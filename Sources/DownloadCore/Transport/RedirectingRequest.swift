/// A request that follows its redirects and keeps the last answer in memory: for what is small and is no download.
struct RedirectingRequest: Sendable {
    let request: DownloadRequest
    let transport: any Transport
    let userAgent: String
    /// Hosts that want https alone; nothing is added to them.
    let strictHosts: HSTSStore?
    let time: any TimeSource
    /// Says which answers are a redirect, and which ones have a body that is wanted.
    var judge = ResponseJudge(start: 0, end: nil, asksRange: false)
    /// Bytes of the body; a longer one is not read to its end.
    let largest: Int
    /// False where somebody else named the URL: what the request has for one origin is for no other.
    var sendsCredentials = true
    /// Cookies that servers set; nil where they are forgotten with the answer.
    var memory: CookieMemory?
    /// Changes each request beyond what all requests of a download have in common.
    var adjust: @Sendable (inout TransferRequest) -> Void = { _ in }

    /// For one answer, from its request to its last byte.
    static let limit = Duration.seconds(60)

    /// One request and its answer.
    struct Step: Sendable {
        let url: SourceURL
        let answer: CollectedAnswer
    }

    struct Outcome: Sendable {
        /// The redirects that were followed, in order.
        var redirects: [Step] = []
        /// The answer that was not followed elsewhere.
        var last: Step
        /// The verdict on the last answer: an error where its redirect is refused, nil where no head came.
        var verdict: ResponseJudge.Verdict?
        /// Those of the request's files, with the cookies that the answers set.
        var secrets: LoadedSecrets
    }

    /// Returns the first answer that is no redirect, or is one that may not be followed.
    /// - Throws: an error of the files that hold the request's secrets.
    func run() async throws(DownloadError) -> Outcome {
        var secrets = try await LoadedSecrets.load(request.secretFiles, time)
        secrets.remember(memory)
        var route = RequestRoute(
            request.url, of: request, upgradedBy: strictHosts, sendsCredentials: sendsCredentials)
        var redirects: [Step] = []
        while true {
            let step = Step(url: route.url, answer: await ask(route, secrets))
            secrets.learn(step.answer.result.cookies)
            var verdict = step.answer.head.map { judge.judge($0) }
            do throws(DownloadError) {
                if case .redirect(let location)? = verdict, let head = step.answer.head {
                    try route.follow(head.status, to: location, of: request, upgradedBy: strictHosts)
                    redirects.append(step)
                    continue
                }
            } catch {
                verdict = .failed(error)
            }
            return Outcome(redirects: redirects, last: step, verdict: verdict, secrets: secrets)
        }
    }

    private func ask(_ route: RequestRoute, _ secrets: LoadedSecrets) async -> CollectedAnswer {
        var asked = TransferRequest(route, of: request, secrets, userAgent: userAgent)
        adjust(&asked)
        return await transport.answer(to: asked, atMost: largest, within: Self.limit, time) { [judge] head in
            if case .body = judge.judge(head) { true } else { false }
        }
    }
}
