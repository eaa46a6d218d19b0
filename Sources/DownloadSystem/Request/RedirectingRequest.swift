import DownloadCore

/// A request that follows redirects and keeps the last answer in memory. It serves small requests that are not
/// downloads.
struct RedirectingRequest: Sendable {
    let request: DownloadRequest
    let transport: any Transport
    let userAgent: String
    /// The hosts that must be asked over https. No hosts are added to them.
    let strictHosts: HSTSStore?
    let time: any TimeSource
    /// The judge that decides which answers are redirects, and which answers have a body to keep.
    var judge = ResponseJudge(start: 0, end: nil, asksRange: false)
    /// The maximum size of the body in bytes. A longer body is not read to its end.
    let largest: Int
    /// Whether credentials are sent. False if the URL comes from a third party, because the request's credentials are
    /// for one origin only.
    var sendsCredentials = true
    /// The cookies of the session. Nil if cookies that servers set are forgotten with the answer.
    var memory: CookieMemory?
    /// Makes further changes to each request. The properties that all requests of a download share are already set.
    var adjust: @Sendable (inout TransferRequest) -> Void = { _ in }

    /// The time limit for one answer, from the request to the last byte.
    static let limit = Duration.seconds(60)

    /// One request and its answer.
    struct Step: Sendable {
        let url: SourceURL
        let answer: CollectedAnswer
    }

    struct Outcome: Sendable {
        var redirects: [Step] = []
        /// The answer that is not a followed redirect.
        var last: Step
        /// The verdict on the last answer. The verdict is an error if the answer is a redirect that was refused, and
        /// nil if no head came.
        var verdict: ResponseJudge.Verdict?
        /// The secrets of the request's files, with the cookies that the answers set.
        var secrets: LoadedSecrets
    }

    /// Returns the first answer that is not a redirect, or whose redirect must not be followed.
    /// - Throws: An error of the files that hold the request's secrets.
    func run() async throws(DownloadError) -> Outcome {
        var secrets = try await LoadedSecrets.load(request.secretFiles)
        secrets.memory = memory
        var route = RequestRoute(
            request.url, of: request, upgradedBy: strictHosts, sendsCredentials: sendsCredentials)
        var redirects: [Step] = []
        while true {
            let step = Step(url: route.url, answer: await ask(route, secrets))
            secrets.learn(step.answer.result.cookies)
            var verdict = step.answer.head.map { judge.judge($0) }
            do throws(DownloadError) {
                if case .redirect(let location)? = verdict, let head = step.answer.head {
                    let location = strictHosts?.upgraded(location: location, for: request) ?? location
                    try route.follow(head.status, to: location, of: request)
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
        asked.prefersMultiplexing = request.multiplexes(byDefault: false)
        adjust(&asked)
        return await transport.answer(to: asked, atMost: largest, within: Self.limit, time) { [judge] head in
            if case .body = judge.judge(head) { true } else { false }
        }
    }
}
