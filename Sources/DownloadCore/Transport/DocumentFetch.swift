import Foundation
import HTTPTypes
import Synchronization

/// Fetches something small into memory, such as a checksum file, as its request says: redirects, retries and trust are
/// those of a download. Nothing of it is recorded.
package struct DocumentFetch: Sendable {
    let request: DownloadRequest
    let transport: any Transport
    let userAgent: String
    /// Bytes; a larger document is an error.
    let largest: Int
    /// Hosts that want https alone.
    let strictHosts: HSTSStore?
    /// False where somebody else named the URL: what the request has for one origin is for no other.
    let sendsCredentials: Bool
    let time: any TimeSource

    /// Cookies that servers set; nil where they are forgotten with the document.
    var memory: CookieMemory?

    /// For one answer, from its request to its last byte.
    private static let limit = Duration.seconds(60)

    package init(
        _ request: DownloadRequest, over transport: any Transport, userAgent: String, largest: Int,
        strictHosts: HSTSStore?, sendsCredentials: Bool = true, time: any TimeSource = SystemTime()
    ) {
        self.time = time
        memory = nil
        self.request = request
        self.strictHosts = strictHosts
        self.sendsCredentials = sendsCredentials
        self.transport = transport
        self.userAgent = userAgent
        self.largest = largest
    }

    package func run() async throws -> [UInt8] {
        var failures = 0
        while true {
            do {
                return try await attempt()
            } catch let failure as Failure {
                let decision = request.retry.decide(
                    failure.error, failures: failures, retryAfter: failure.retryAfter, jitter: .random(in: 0...1))
                guard case .retry(let delay) = decision, request.mayBeSentAgain(after: failure.error) else {
                    throw failure.error
                }
                failures += 1
                try await time.sleep(for: .seconds(delay))
            }
        }
    }

    /// Asks once, and for no longer than that.
    func once(within limit: Duration) async -> Result<[UInt8], DownloadError> {
        await withTaskGroup(of: Result<[UInt8], DownloadError>?.self) { group in
            group.addTask {
                do {
                    return .success(try await attempt())
                } catch {
                    let known = (error as? Failure)?.error ?? error as? DownloadError
                    return .failure(known ?? .unexpected("\(error)"))
                }
            }
            group.addTask {
                try? await time.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next().flatMap(\.self)
                ?? .failure(.networkFailed(.timedOut, TransportDiagnosis(code: 0, message: "\(request.url)")))
        }
    }

    private struct Failure: Error {
        let error: DownloadError
        var retryAfter: Double?
    }

    private func attempt() async throws -> [UInt8] {
        var route = RequestRoute(
            strictHosts?.upgraded(request.url, for: request) ?? request.url, sendsCredentials: sendsCredentials)
        var secrets = try await LoadedSecrets.load(request.secretFiles, time)
        secrets.remember(memory)
        while true {
            let answer = await ask(route, secrets)
            secrets.learn(answer.cookies)
            if case .failed(let error) = answer.ending { throw Failure(error: error) }
            guard let head = answer.head else {
                throw Failure(error: .protocolViolated(.malformedReply("no response head")))
            }
            switch ResponseJudge(start: 0, end: nil, asksRange: false).judge(head) {
            case .redirect(let location):
                let target = strictHosts?.upgraded(location: location, for: request) ?? location
                try route.follow(head.status, to: target, of: request)
            case .failed(let error):
                throw Failure(error: error, retryAfter: ServerPause(head, route.url, now: time.date)?.seconds)
            case .body where answer.isTooLarge:
                throw DownloadError.verificationFailed(.unverifiable("\(route.url): more than \(largest) bytes"))
            case .body where answer.ending == .complete: return answer.body
            default:
                throw Failure(error: .networkFailed(.timedOut, TransportDiagnosis(code: 0, message: "\(route.url)")))
            }
        }
    }

    private func ask(_ route: RequestRoute, _ secrets: LoadedSecrets) async -> DocumentSink.Answer {
        let asked = TransferRequest(route, of: request, secrets, userAgent: userAgent)
        let sink = DocumentSink(largest: largest)
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

/// Keeps one answer in memory, up to a size.
private final class DocumentSink: TransferSink {
    struct Answer: Sendable {
        var head: ResponseHead?
        var body: [UInt8] = []
        var isTooLarge = false
        var cookies: TransferResult.KnownCookies?
        var ending = TransferResult.Ending.cancelled
    }

    private struct State {
        var answer = Answer()
        var isOver = false
        var waiter: CheckedContinuation<Answer, Never>?
    }

    private let largest: Int
    private let state = Mutex(State())

    init(largest: Int) { self.largest = largest }

    /// At its end.
    func answer() async -> Answer {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Answer? in
                if state.isOver { return state.answer }
                state.waiter = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    func transferDidReceiveHead(_ head: ResponseHead) -> HeadDisposition {
        state.withLock { $0.answer.head = head }
        return head.status == 200 ? .accept : .discard
    }

    func transferDidReceive(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        state.withLock { state in
            guard state.answer.body.count + bytes.count <= largest else {
                state.answer.isTooLarge = true
                return .refuse
            }
            state.answer.body.append(contentsOf: bytes)
            return .taken
        }
    }

    func transferDidFinish(_ result: TransferResult) {
        let (answer, waiter) = state.withLock { state in
            state.answer.ending = result.ending
            state.answer.cookies = result.cookies
            if result.ending == .complete, result.exceedsLength {
                state.answer.ending = .failed(.protocolViolated(.malformedReply("it goes on after its Content-Length")))
            }
            state.isOver = true
            defer { state.waiter = nil }
            return (state.answer, state.waiter)
        }
        waiter?.resume(returning: answer)
    }
}
