import CCurl
import DownloadCore
import Foundation
import HTTPTypes
import Synchronization

/// One transfer: the handle that callers have, and the state that the engine keeps for the transfer. Only the engine
/// thread uses the `var` properties.
final class CurlTransfer: Transfer, @unchecked Sendable {
    /// The reason why a transfer is suspended. Each piece is offered first to the rate limits and then to the sink,
    /// so only one of them suspends the transfer at a time.
    enum Hold { case sink, limit }

    let request: TransferRequest
    let origin: String
    let loop: CurlLoop
    /// The number of the engine in the roster; nil for the side engine.
    private let engine: Int?
    /// The head of a challenge (401) that libcurl may answer itself.
    private var challenge: ResponseHead?
    /// The choice between Basic and Digest; nil if the request states the scheme, or has no name and password.
    var answer: ChallengeAnswer?
    private var isPresented = false
    /// The state of the file on a server without HTTP; nil with HTTP.
    var remote: RemoteFile?

    private(set) var sink: (any TransferSink)?
    var easy: EasyHandle?
    var multi: MultiHandle?
    var parser: ResponseHeadParser
    var hold: Hold?
    var isKnownToLimiter = false
    /// The number of bytes that the sink has already taken of the piece that libcurl will deliver again.
    private(set) var ahead = 0
    /// Whether the transfer must start again, on a connection of its own.
    var needsOwnConnection = false
    /// The ending that the engine itself decided; nil while libcurl decides.
    var verdict: TransferResult.Ending?
    /// The loop time in ms until which an unwanted body is read; nil for a body that is wanted.
    private(set) var discardDeadline: Int64?
    private var discarded = 0
    /// The loop time in ms of the last activity.
    var lastActivity: Int64 = 0
    var isConnected = false
    private(set) var received: Int64 = 0
    /// The trace of the connection; nil if the request is not traced.
    var trace: ConnectionTrace?
    /// Whether the TLS session has been closed in order; nil unless the body ends only with its TLS connection.
    private var isTLSClosed: Bool?

    /// The socket of the transfer's connection; nil until libcurl first waits for the socket.
    var socket: Int32?
    private var overrun: BodyOverrun?
    private var isSecure = false

    /// The most bytes of an unwanted body that are read to keep the connection usable.
    private static let discardLimit = 64 << 10
    /// The longest time that an unwanted body is read, in ms.
    private static let discardPatience: Int64 = 1000

    init(request: TransferRequest, origin: String, sink: any TransferSink, loop: CurlLoop, engine: Int?) {
        self.request = request
        self.origin = origin
        parser = ResponseHeadParser(after: loop.lastHead)
        self.engine = engine
        if !request.url.isHTTP { remote = RemoteFile(range: request.range) }
        self.sink = sink
        self.loop = loop
    }

    /// Whether the transfer leaves nothing but the URL in its easy handle, because the engine neither watches it nor
    /// answers a challenge.
    var leavesNothing: Bool {
        request.url.isHTTP && request.body == nil && request.credential == nil && request.unixSocket == nil
            && request.cookies?.isEmpty != false && !request.isTraced && overrun == nil && isTLSClosed == nil
            && verdict == nil && answer == nil && challenge == nil
    }

    func cancel() { loop.send(.cancel(self)) }

    func resume() { loop.send(.resume(self)) }

    /// Handles a header line, as CURLOPT_HEADERFUNCTION delivers it. Returns false to end the transfer.
    func takeHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        lastActivity = loop.now
        if remote != nil {
            remote?.note(reply: line)
            return true
        }
        switch parser.take(line) {
        case .incomplete: return true
        case .tooLarge:
            verdict = .failed(.protocolViolated(.malformedReply("the header section is too large")))
            return false
        case .head(let head):
            if answer?.turns(at: head) == true {
                needsOwnConnection = true
                return false
            }
            guard isAnswered(head) else { return present(head) }
            challenge = head
            endUnframedBody(of: head)
            parser = ResponseHeadParser(after: loop.lastHead)
            return true
        }
    }

    /// Returns whether libcurl may answer the challenge itself, with another request. If libcurl does not, a body or
    /// the end of the transfer follows.
    private func isAnswered(_ head: ResponseHead) -> Bool {
        let isBasic = (request.authentication ?? (answer?.usesDigest == true ? .digest : .basic)) == .basic
        return head.status == 401 && !isBasic && request.credential != nil
    }

    /// Ends the connection of a challenge whose body has no length. libcurl reads the body of a challenge before it
    /// sends the next request. A body without a length ends with its connection, which the server may keep open.
    /// libcurl then sends the next request on another connection.
    private func endUnframedBody(of head: ResponseHead) {
        guard let easy, let socket, easy.httpVersion.hasPrefix("1"), !Challenge.isOfConnection(head),
            head.fields.value(.transferEncoding) == nil, ResponseJudge.contentLength(head) == nil
        else { return }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Presents to the sink a challenge that libcurl did not answer. Returns false to end the transfer.
    func presentChallenge() -> Bool {
        guard let head = challenge else { return true }
        challenge = nil
        isPresented = true
        return present(head)
    }

    /// Presents to the sink the head of the response. Returns false to end the transfer.
    private func present(_ head: ResponseHead) -> Bool {
        var head = head
        challenge = nil
        guard let easy, let sink else { return false }
        head.httpVersion = easy.httpVersion
        head.isDecoded = request.decodesContent && ResponseJudge.contentEncoding(head) != nil
        if head.fields.contains(where: { $0.name == .setCookie }) { head.cookies = easy.cookies(of: request) }
        // If the `Location` fields differ, there is no URL to follow.
        if (300..<400).contains(head.status) {
            let locations = head.fields.values(.location)
            if let location = locations.first, locations.allSatisfy({ $0 == location }) {
                head.redirectURL = Self.resolve(location, against: request.url)
            }
        }
        needsOwnConnection = endsUnproved(head)
        if endsWithTLS(head) {
            isTLSClosed = false
            easy.watchReads(for: self)
        }
        overrun = BodyOverrun(head, request)
        if overrun != nil {
            isSecure = easy.isSecure
            easy.watchBytes(for: self)
        }
        if trace != nil, let names = easy.tlsNames {
            trace?.tlsVersion = names.version
            trace?.cipher = names.cipher
        }
        loop.didReceiveHead(self, head)
        if needsOwnConnection { return false }
        if overrun?.isEmpty == true { lookBehindBody(delivered: 0) }
        switch sink.transferDidReceiveHead(head) {
        case .accept:
            guard overrun?.isOver(behind: 0) == true else { return true }
            verdict = .complete
            return false
        case .discard:
            discardDeadline = loop.now + Self.discardPatience
            return true
        case .refuse:
            verdict = .refused
            return false
        }
    }

    /// Returns whether a transfer that was cut off could not be distinguished from a complete one. libcurl before 8.0
    /// takes RST_STREAM with NO_ERROR for the end of a body whose length is not known (curl issue 6015). Over
    /// HTTP/1.1 the end of the same body can be recognized.
    private func endsUnproved(_ head: ResponseHead) -> Bool {
        head.httpVersion == "2" && dlm_curl_version() < 0x080000 && request.method == .get && head.status == 200
            && ResponseJudge.contentLength(head) == nil
    }

    /// Discards what was received of the response, so that the transfer can start again.
    func beginAgain() {
        needsOwnConnection = false
        (challenge, isPresented) = (nil, false)
        ahead = 0
        overrun = nil
        parser = ResponseHeadParser(after: loop.lastHead)
        isConnected = false
    }

    /// Returns whether the body ends only with its TLS connection. Then only close_notify distinguishes the end of
    /// the body from a connection that was cut (RFC 9112 section 9.8).
    private func endsWithTLS(_ head: ResponseHead) -> Bool {
        guard request.url.scheme == "https", request.method != .head, head.httpVersion.hasPrefix("1") else {
            return false
        }
        let isChunked = head.fields.value(.transferEncoding)?.lowercased().contains("chunked") ?? false
        return !isChunked && ResponseJudge.contentLength(head) == nil
    }

    /// Checks for bytes that follow the body, once the whole body was delivered.
    private func lookBehindBody(delivered: Int64) {
        guard let easy else { return }
        overrun?.look(behind: delivered) { easy.unread(socket, isSecure: isSecure) }
    }

    /// Records bytes that libcurl has read while the body is watched. `noteText` records libcurl's messages.
    func noteBytes(_ bytes: UnsafeRawBufferPointer) { overrun?.note(read: bytes) }

    func noteText(_ text: UnsafeRawBufferPointer) { overrun?.note(text: text) }

    func noteTLSEnd() {
        if isTLSClosed != nil, let easy { isTLSClosed = easy.tlsWasClosed }
    }

    /// Whether the TLS connection ended without close_notify, so that the body may be cut short. libcurl before 8.15
    /// takes any end of the connection for the end of the body.
    var isCutShort: Bool { isTLSClosed == false && discardDeadline == nil }

    /// Handles a piece of the body, as CURLOPT_WRITEFUNCTION delivers it.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        lastActivity = loop.now
        if challenge != nil, !presentChallenge() { return .refuse }
        if discardDeadline != nil {
            discarded += bytes.count
            guard discarded > Self.discardLimit else { return .taken }
            verdict = .complete
            return .refuse
        }
        if remote != nil { return takePart(bytes) }
        guard parser.isDone || isPresented else {
            // libcurl treats the bytes after a 101 as a body.
            verdict = .failed(.protocolViolated(.malformedReply("a body without a head")))
            return .refuse
        }
        return offer(bytes)
    }

    /// Offers the piece to the sink in parts, each as large as the rate limits allow. When a part suspends the
    /// transfer, libcurl later delivers the whole piece again, perhaps split differently.
    func offer(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let sink else { return .refuse }
        var taken = min(ahead, bytes.count)
        lookBehindBody(delivered: received + Int64(bytes.count - taken))
        while taken < bytes.count {
            let count = loop.gate.admits(bytes.count - taken, for: self, now: loop.now)
            if count == 0 {
                hold = .limit
                ahead = taken
                return .pause
            }
            switch sink.transferDidReceive(UnsafeRawBufferPointer(rebasing: bytes[taken..<taken + count])) {
            case .taken:
                received += Int64(count)
                taken += count
            case .pause:
                loop.gate.giveBack(count, from: self, now: loop.now)
                hold = .sink
                ahead = taken
                return .pause
            case .refuse:
                verdict = .refused
                return .refuse
            }
        }
        ahead = max(0, ahead - bytes.count)
        guard overrun?.isOver(behind: received) == true else { return .taken }
        // libcurl 7.88 would read the rest as the next response. Refusing the piece ends the transfer, which libcurl
        // reports as a write error.
        verdict = .complete
        return .refuse
    }

    /// Reports the result to the sink, once, and releases the sink.
    func finish(_ result: TransferResult) {
        guard let sink else { return }
        self.sink = nil
        // The roster is updated first, because a transfer that the sink starts may use the same connection.
        if let engine { loop.shared.roster.withLock { $0.ended(origin, on: engine) } }
        var result = result
        result.metrics.received = received
        result.exceedsLength = overrun?.isFound ?? false
        result.connection = trace
        sink.transferDidFinish(result)
    }

    private static func resolve(_ location: String, against base: SourceURL) -> String? {
        guard let resolved = dlm_resolve_url(base.string, location) else { return nil }
        defer { curl_free(resolved) }
        return String(cString: resolved)
    }
}
