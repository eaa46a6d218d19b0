import DownloadCore
import HTTPTypes

/// The result of a probe, step by step.
package struct ProbedRequest: Sendable, Equatable {
    /// One request and its answer.
    package struct Step: Sendable, Equatable {
        package var url: SourceURL
        /// The URL without secrets of the request that a server may have repeated in it.
        package var text: String
        /// The head of the answer; nil if no head came.
        package var head: ResponseHead?
        package var metrics: TransferMetrics
        package var connection: ConnectionTrace
    }

    /// The redirects, and the request to which they lead.
    package var steps: [Step] = []
    /// The abilities of the server in the last step; nil if the server did not answer with the file.
    package var abilities: ServerAbilities?
    /// The error with which a download would fail; nil if a download would not fail.
    package var error: DownloadError?

    package init() {}
}

extension ProbedRequest {
    /// Asks for the first byte of a URL, and records all details of the request and its answer. A download would begin
    /// with the same request, except for the range. The probe transfers at most a few KiB.
    package init(
        probing request: DownloadRequest, over transport: any Transport, userAgent: String,
        strictHosts: HSTSStore? = nil, time: any TimeSource = SystemTime()
    ) async {
        let asked = RedirectingRequest(
            request: request, transport: transport, userAgent: userAgent, strictHosts: strictHosts, time: time,
            judge: ResponseJudge(start: 0, end: 1, asksRange: true), largest: 4096
        ) { asked in
            asked.range = "0-0"
            asked.options.isTraced = true
            asked.prefersMultiplexing = true
            asked.options.isOneOfMany = true
        }
        let outcome: RedirectingRequest.Outcome
        do throws(DownloadError) { outcome = try await asked.run() } catch {
            self.error = error
            return
        }
        let secrets = RequestSecrets(request, outcome.secrets)
        steps = (outcome.redirects + [outcome.last]).map { Step($0, hiding: secrets) }
        let last = outcome.last
        switch (outcome.verdict, last.answer.result.ending) {
        case (.failed(let error)?, _), (nil, .failed(let error)): self.error = error.hiding(secrets)
        case (nil, _):
            let message = "no answer within \(RedirectingRequest.limit)"
            error = .networkFailed(.timedOut, TransportDiagnosis(code: 0, message: message))
        // Neither an empty file, which has no first byte, nor a server that rejects ranges is a failure.
        default:
            guard let head = last.answer.head else { break }
            var abilities = ServerAbilities(secrets.hidden(in: head), url: last.url, now: time.date)
            abilities.name = secrets.hidden(in: abilities.name)
            self.abilities = abilities
        }
    }
}

extension ProbedRequest.Step {
    fileprivate init(_ step: RedirectingRequest.Step, hiding secrets: RequestSecrets) {
        url = step.url
        text = secrets.hidden(in: step.url.string)
        head = step.answer.head.map { secrets.hidden(in: $0) }
        metrics = step.answer.result.metrics
        connection = step.answer.result.connection ?? ConnectionTrace()
    }
}

extension RequestSecrets {
    /// Returns the head without the secrets, because some servers repeat values of the request.
    fileprivate func hidden(in head: ResponseHead) -> ResponseHead {
        var head = head
        head.phrase = hidden(in: head.phrase)
        head.redirectURL = head.redirectURL.map { hidden(in: $0) }
        head.fields = HTTPFields(head.fields.map { HTTPField(name: $0.name, value: hidden(in: $0.value)) })
        return head
    }
}
