import CCurl
import DownloadCore
import Foundation
import HTTPTypes
import Synchronization

/// One transfer: the handle that others hold, and the engine thread's book of it.
/// Everything below `request` belongs to the engine thread.
final class CurlTransfer: Transfer, @unchecked Sendable {
    /// What keeps libcurl from delivering. A piece is asked about at one of them at a time, from the last to the first.
    enum Hold { case sink, limit }

    let request: TransferRequest
    let origin: String
    let loop: CurlLoop
    /// The engine's number; nil for the one beside them.
    private let engine: Int?
    /// A head that libcurl may answer itself.
    private var challenge: ResponseHead?
    /// Nil where the request says how the name and password are shown, or has none.
    var answer: ChallengeAnswer?
    private var isPresented = false
    /// Of a server without HTTP.
    var remote: RemoteFile?

    private(set) var sink: (any TransferSink)?
    var easy: EasyHandle?
    var multi: MultiHandle?
    var parser: ResponseHeadParser
    var hold: Hold?
    var isKnownToLimiter = false
    /// How much of what libcurl is to deliver again the sink has taken already.
    private(set) var ahead = 0
    /// It must begin again, on a connection of its own.
    var needsOwnConnection = false
    /// Why the engine itself ended the transfer; nil while libcurl decides.
    var verdict: TransferResult.Ending?
    /// Loop time in ms until which an unwanted body is read; nil for one that is wanted.
    private(set) var discardDeadline: Int64?
    private var discarded = 0
    /// Loop time in ms of the last sign of life.
    var lastActivity: Int64 = 0
    var isConnected = false
    private(set) var received: Int64 = 0
    /// Of a transfer that is traced.
    var trace: ConnectionTrace?
    /// For a body over TLS that only the end of the connection ends: whether that was an orderly one.
    private var isTLSClosed: Bool?

    /// The connection that it is on; nil until libcurl waits for it.
    var socket: Int32?
    private var overrun: BodyOverrun?
    private var isSecure = false

    /// The most of an unwanted body that is read to keep a connection usable.
    private static let discardLimit = 64 << 10
    /// The longest that it is waited for, in ms.
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

    /// Nothing of this transfer stays in its easy handle but the URL: the engine watches, or answers, nothing on the way.
    var leavesNothing: Bool {
        request.url.isHTTP && request.body == nil && request.credential == nil && request.unixSocket == nil
            && request.cookies?.isEmpty != false && !request.isTraced && overrun == nil && isTLSClosed == nil
            && verdict == nil && answer == nil && challenge == nil
    }

    func cancel() { loop.send(.cancel(self)) }

    func resume() { loop.send(.resume(self)) }

    /// A header line, as CURLOPT_HEADERFUNCTION delivers it. False ends the transfer.
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

    /// libcurl answers a challenge itself, with the next request. When it does not, a body follows, or the end.
    private func isAnswered(_ head: ResponseHead) -> Bool {
        let isBasic = (request.authentication ?? (answer?.usesDigest == true ? .digest : .basic)) == .basic
        return head.status == 401 && !isBasic && request.credential != nil
    }

    /// libcurl reads the body of a challenge before it answers. A body without a length ends with its connection, which
    /// the server may keep open: so the connection is ended here, and libcurl answers on another one.
    private func endUnframedBody(of head: ResponseHead) {
        guard let easy, let socket, easy.httpVersion.hasPrefix("1"), !Challenge.isOfConnection(head),
            head.fields.value(.transferEncoding) == nil, ResponseJudge.contentLength(head) == nil
        else { return }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Tells of a challenge that was not answered. False ends the transfer.
    func presentChallenge() -> Bool {
        guard let head = challenge else { return true }
        challenge = nil
        isPresented = true
        return present(head)
    }

    /// Tells of the head of the answer. False ends the transfer.
    private func present(_ head: ResponseHead) -> Bool {
        var head = head
        challenge = nil
        guard let easy, let sink else { return false }
        head.httpVersion = easy.httpVersion
        head.isDecoded = request.decodesContent && ResponseJudge.contentEncoding(head) != nil
        if head.fields.contains(where: { $0.name == .setCookie }) { head.cookies = easy.cookies(of: request) }
        // Two that differ are none to follow.
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

    /// libcurl before 8.0 takes RST_STREAM with NO_ERROR for the end of a body whose length is not known (curl issue
    /// 6015); over HTTP/1.1 the same body has an end that can be told.
    private func endsUnproved(_ head: ResponseHead) -> Bool {
        head.httpVersion == "2" && dlm_curl_version() < 0x080000 && request.method == .get && head.status == 200
            && ResponseJudge.contentLength(head) == nil
    }

    /// Forgets the answer that came.
    func beginAgain() {
        needsOwnConnection = false
        (challenge, isPresented) = (nil, false)
        ahead = 0
        overrun = nil
        parser = ResponseHeadParser(after: loop.lastHead)
        isConnected = false
    }

    /// Nothing but close_notify tells the end of such a body from a connection that somebody cut (RFC 9112 section 9.8).
    private func endsWithTLS(_ head: ResponseHead) -> Bool {
        guard request.url.scheme == "https", request.method != .head, head.httpVersion.hasPrefix("1") else {
            return false
        }
        let isChunked = head.fields.value(.transferEncoding)?.lowercased().contains("chunked") ?? false
        return !isChunked && ResponseJudge.contentLength(head) == nil
    }

    /// Looks, once the whole body was delivered, for bytes that follow it.
    private func lookBehindBody(delivered: Int64) {
        guard let easy else { return }
        overrun?.look(behind: delivered) { easy.unread(socket, isSecure: isSecure) }
    }

    /// What libcurl says, or has read, while the body is watched.
    func noteBytes(_ bytes: UnsafeRawBufferPointer) { overrun?.note(read: bytes) }

    func noteText(_ text: UnsafeRawBufferPointer) { overrun?.note(text: text) }

    func noteTLSEnd() {
        if isTLSClosed != nil, let easy { isTLSClosed = easy.tlsWasClosed }
    }

    /// libcurl before 8.15 takes any end of the connection for the end of the body.
    var isCutShort: Bool { isTLSClosed == false && discardDeadline == nil }

    /// A piece of the body, as CURLOPT_WRITEFUNCTION delivers it.
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
            // libcurl takes what follows a 101 for a body.
            verdict = .failed(.protocolViolated(.malformedReply("a body without a head")))
            return .refuse
        }
        return offer(bytes)
    }

    /// Offers the piece in parts, each as large as the limits allow. When one is put off, libcurl delivers the whole
    /// piece again, perhaps cut differently.
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
        // libcurl 7.88 would read the rest as the next answer (and calls this an error of its sink).
        verdict = .complete
        return .refuse
    }

    /// Tells the sink, once, and lets go of it.
    func finish(_ result: TransferResult) {
        guard let sink else { return }
        self.sink = nil
        // Before the sink hears of it: what it starts then may go on with the same connection.
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
