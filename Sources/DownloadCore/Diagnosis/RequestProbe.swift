import Foundation
import HTTPTypes
import Synchronization

/// One request for the first byte of what a URL leads to, told in full: it is what a download would begin with, and
/// takes at most a few KiB.
package struct RequestProbe: Sendable {
    let request: DownloadRequest
    let transport: any Transport
    let userAgent: String
    /// Hosts that want https alone; nothing is added to them.
    let strictHosts: HSTSStore?
    let time: any TimeSource

    /// For one answer, from its request to its first bytes.
    private static let limit = Duration.seconds(60)

    package init(
        _ request: DownloadRequest, over transport: any Transport, userAgent: String, strictHosts: HSTSStore? = nil,
        time: any TimeSource = SystemTime()
    ) {
        self.time = time
        self.strictHosts = strictHosts
        self.request = request
        self.transport = transport
        self.userAgent = userAgent
    }

    package func run() async -> ProbedRequest {
        var probed = ProbedRequest()
        var loaded: LoadedSecrets
        do throws(DownloadError) {
            loaded = try await LoadedSecrets.load(request.secretFiles, time)
        } catch {
            probed.error = error
            return probed
        }
        var route = RequestRoute(strictHosts?.upgraded(request.url, for: request) ?? request.url)
        while true {
            let url = route.url
            let (head, result) = await ask(route, loaded)
            loaded.learn(result.cookies)
            let secrets = RequestSecrets(request, loaded)
            let shown = head.map { secrets.hidden(in: $0) }
            probed.steps.append(
                ProbedRequest.Step(
                    url: url, text: secrets.hidden(in: url.string), head: shown, metrics: result.metrics,
                    connection: result.connection ?? ConnectionTrace())
            )
            if case .failed(let error) = result.ending, head == nil {
                probed.error = error.hiding(secrets)
                return probed
            }
            guard let head else {
                let diagnosis = TransportDiagnosis(code: 0, message: "no answer within \(Self.limit)")
                probed.error = .networkFailed(.timedOut, diagnosis)
                return probed
            }
            switch judge(head) {
            case .redirect(let location):
                do {
                    let target = strictHosts?.upgraded(location: location, for: request) ?? location
                    try route.follow(head.status, to: target, of: request)
                } catch {
                    probed.error = error.hiding(secrets)
                    return probed
                }
            case .failed(let error):
                probed.error = error.hiding(secrets)
                return probed
            default:
                var abilities = ServerAbilities(secrets.hidden(in: head), url: url, now: time.date)
                abilities.name = secrets.hidden(in: abilities.name)
                probed.abilities = abilities
                return probed
            }
        }
    }

    /// An empty file has no first byte, which is no failure; neither is a server that wants no ranges.
    private func judge(_ head: ResponseHead) -> ResponseJudge.Verdict {
        if head.status == 416 { return .current }
        return ResponseJudge(start: 0, end: 1, asksRange: true).judge(head)
    }

    private func ask(_ route: RequestRoute, _ loaded: LoadedSecrets) async -> (ResponseHead?, TransferResult) {
        var asked = TransferRequest(route, of: request, loaded, userAgent: userAgent)
        asked.range = "0-0"
        asked.isTraced = true
        asked.prefersMultiplexing = true
        asked.isOneOfMany = true
        let sink = ProbeSink()
        let transfer = transport.start(asked, sink: sink)
        let timer = Task {
            try await time.sleep(for: Self.limit)
            transfer.cancel()
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await sink.answer()
        } onCancel: {
            transfer.cancel()
        }
    }
}

/// What came of a probe, step by step.
public struct ProbedRequest: Sendable, Equatable {
    /// One request and its answer.
    public struct Step: Sendable, Equatable {
        public var url: SourceURL
        /// The URL without what a server may have repeated in it of the request's secrets.
        public var text: String
        /// Nil when none came.
        public var head: ResponseHead?
        public var metrics: TransferMetrics
        public var connection: ConnectionTrace

        public init(
            url: SourceURL, text: String, head: ResponseHead?, metrics: TransferMetrics, connection: ConnectionTrace
        ) {
            self.url = url
            self.text = text
            self.head = head
            self.metrics = metrics
            self.connection = connection
        }
    }

    /// The redirects, and what they lead to.
    public var steps: [Step] = []
    /// Of the last step, when it answered with the file.
    public var abilities: ServerAbilities?
    /// Why a download would fail.
    public var error: DownloadError?

    public init() {}
}

/// Keeps the head, and takes a little of the body.
private final class ProbeSink: TransferSink {
    private struct State {
        var head: ResponseHead?
        var taken = 0
        var result: TransferResult?
        var waiter: CheckedContinuation<(ResponseHead?, TransferResult), Never>?
    }

    /// Bytes of the body.
    private static let most = 4096
    private let state = Mutex(State())

    func answer() async -> (ResponseHead?, TransferResult) {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> (ResponseHead?, TransferResult)? in
                if let result = state.result { return (state.head, result) }
                state.waiter = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition {
        state.withLock { $0.head = head }
        return .accept
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        state.withLock { state in
            state.taken += bytes.count
            return state.taken > Self.most ? .refuse : .taken
        }
    }

    func transferDidFinish(_ result: TransferResult) {
        let (head, waiter) = state.withLock { state in
            state.result = result
            defer { state.waiter = nil }
            return (state.head, state.waiter)
        }
        waiter?.resume(returning: (head, result))
    }
}

extension RequestSecrets {
    /// The head without them: some servers repeat what they were sent.
    fileprivate func hidden(in head: ResponseHead) -> ResponseHead {
        var head = head
        head.phrase = hidden(in: head.phrase)
        head.redirectURL = head.redirectURL.map { hidden(in: $0) }
        head.fields = HTTPFields(head.fields.map { HTTPField(name: $0.name, value: hidden(in: $0.value)) })
        return head
    }
}
