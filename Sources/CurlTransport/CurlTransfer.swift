import CCurl
import DownloadCore
import Foundation
import HTTPTypes
import Synchronization

/// One transfer: the handle that callers have, and the state that the engine keeps for the transfer. Only the engine
/// thread uses the `var` properties.
final class CurlTransfer: Transfer, @unchecked Sendable {
    let request: TransferRequest
    let loop: CurlLoop
    private(set) var sink: (any TransferSink)?
    /// The handles of the transfer; nil while libcurl does not run the transfer.
    var attachment: (easy: EasyHandle, multi: MultiHandle)?
    /// The socket of the transfer's connection; nil until libcurl first waits for the socket.
    var socket: Int32?
    /// The state of the file on a server without HTTP; nil with HTTP. Comparing it with nil copies it, so each header line
    /// asks ``isHTTP``.
    var remote: RemoteFile?
    var head: HeadReader
    var delivery = BodyDelivery()
    var bodyEnd = BodyEnd()
    /// The progress of an unwanted body; nil for a body that is wanted.
    private(set) var discarded: DiscardedBody?
    var activity = Activity()
    /// Whether the transfer must start again, on a connection of its own.
    var needsOwnConnection = false
    /// The ending that the engine itself decided; nil while libcurl decides.
    var ownEnding: TransferResult.Ending?
    var trace: ConnectionTrace?

    init(request: TransferRequest, sink: any TransferSink, loop: CurlLoop) {
        head = HeadReader(after: loop.lastHead)
        if !request.url.isHTTP { remote = RemoteFile(range: request.range) }
        self.request = request
        self.sink = sink
        self.loop = loop
    }

    var easy: EasyHandle? { attachment?.easy }

    var origin: String { request.origin }

    private var isHTTP: Bool { request.url.isHTTP }

    /// Whether the transfer leaves nothing but the URL in its easy handle. This is so for plain HTTP requests whose
    /// response the engine need not watch.
    var leavesNothing: Bool {
        isHTTP && request.isPlain && bodyEnd.watchesNothing && ownEnding == nil && head.isPlain
    }

    func cancel() { loop.send(.cancel(self)) }

    func resume() { loop.send(.resume(self)) }

    func addresses() async -> [String] {
        let (network, url) = (request.options.network, request.url)
        // A proxy connects to the server itself. The addresses of a limited transfer are all as fast as the limit.
        guard url.isHTTP, network.proxy?.url.isEmpty ?? !loop.shared.mayHaveProxy, request.options.unixSocket == nil,
            !request.isLimited
        else { return [] }
        let pinned = network.pinned(for: url)
        if !pinned.isEmpty { return pinned }
        guard network.nameServer == nil,
            let own = await withCheckedContinuation({ loop.send(.locate(self, $0)) })
        else { return [] }
        return [own] + (await ServerAddresses.lookUp(url.host, network)).filter { $0 != own }
    }

    /// Handles a header line, as CURLOPT_HEADERFUNCTION delivers it. Returns false to end the transfer.
    func takeHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        activity.observe(at: loop.now)
        if !isHTTP {
            remote?.note(reply: line)
            return true
        }
        switch head.take(line, of: request) {
        case .incomplete: return true
        case .tooLarge:
            ownEnding = .failed(.protocolViolated(.malformedReply("the header section is too large")))
            return false
        case .sendAgain:
            needsOwnConnection = true
            return false
        case .challenge(let head):
            endUnframedBody(of: head)
            return true
        case .final(let head): return present(head)
        }
    }

    /// Closes the connection of a challenge whose body has no length. libcurl reads the body of a challenge before it
    /// sends the next request. A body without a length ends with its connection, which the server may keep open. After
    /// this call, libcurl sends the next request on another connection.
    private func endUnframedBody(of head: ResponseHead) {
        guard let easy, let socket, easy.httpVersion.hasPrefix("1"), !Challenge.isOfConnection(head),
            head.fields.value(.transferEncoding) == nil, ResponseJudge.contentLength(head) == nil
        else { return }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Presents to the sink a challenge that libcurl did not answer. Returns false to end the transfer.
    func presentChallenge() -> Bool {
        guard let head = self.head.takeChallenge() else { return true }
        return present(head)
    }

    /// Presents to the sink the head of the response. Returns false to end the transfer.
    private func present(_ head: consuming ResponseHead) -> Bool {
        guard let easy, let sink else { return false }
        head.httpVersion = easy.httpVersion
        head.isDecoded = request.decodesContent && ResponseJudge.contentEncoding(head) != nil
        if head.fields.has(.setCookie) { head.cookies = easy.cookies(of: self) }
        // If the `Location` fields differ, there is no URL to follow.
        if (300..<400).contains(head.status) {
            let locations = head.fields.values(.location)
            if let location = locations.first, locations.allSatisfy({ $0 == location }) {
                head.redirectURL = Self.resolve(location, against: request.url)
            }
        }
        needsOwnConnection = endsUnproved(head)
        bodyEnd = BodyEnd(head, request)
        if bodyEnd.watchesTLSEnd { easy.watchReads(for: self) }
        if bodyEnd.overrun != nil {
            bodyEnd.isSecure = easy.isSecure
            easy.watchBytes(for: self)
        }
        traceTLS()
        loop.didReceiveHead(self, head)
        if needsOwnConnection { return false }
        if bodyEnd.overrun?.isEmpty == true { bodyEnd.look(behind: 0, easy, socket) }
        switch sink.transferDidReceiveHead(head) {
        case .accept:
            guard bodyEnd.overrun?.isOver(behind: 0) == true else { return true }
            ownEnding = .complete
            return false
        case .discard:
            discarded = DiscardedBody(at: loop.now)
            return true
        case .refuse:
            ownEnding = .refused
            return false
        }
    }

    /// Returns whether a transfer that was cut off could not be distinguished from a complete one. libcurl takes
    /// RST_STREAM with NO_ERROR for the end of a body whose length is not known (seen with 7.88 and 8.14; curl issue
    /// 6015). Over HTTP/1.1 the end of the same body can be recognized.
    private func endsUnproved(_ head: ResponseHead) -> Bool {
        ["2", "3"].contains(head.httpVersion) && request.method == .get && head.status == 200
            && ResponseJudge.contentLength(head) == nil
    }

    /// Records the TLS version and cipher of the connection, if the request is traced.
    func traceTLS() {
        guard trace != nil, let names = easy?.tlsNames else { return }
        trace?.tlsVersion = names.version
        trace?.cipher = names.cipher
    }

    /// Discards what was received of the response, so that the transfer can start again.
    func beginAgain() {
        needsOwnConnection = false
        head.beginAgain()
        delivery.beginAgain()
        bodyEnd = BodyEnd()
        activity.beginAgain()
    }

    /// Whether the body may be cut short, because its connection ended without close_notify.
    var isCutShort: Bool { bodyEnd.isCutShort && discarded == nil }

    /// Handles a piece of the body, as CURLOPT_WRITEFUNCTION delivers it.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        activity.observe(at: loop.now)
        if !presentChallenge() { return .refuse }
        if let goesOn = discarded?.take(bytes.count) {
            if goesOn { return .taken }
            ownEnding = .complete
            return .refuse
        }
        if !isHTTP { return takePart(bytes) }
        guard head.isDone else {
            // libcurl treats the bytes after a 101 as a body.
            ownEnding = .failed(.protocolViolated(.malformedReply("a body without a head")))
            return .refuse
        }
        return offer(bytes)
    }

    /// Offers the piece to the sink in parts, each as large as the rate limits allow. When a part suspends the
    /// transfer, libcurl later delivers the whole piece again, perhaps split differently.
    func offer(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let sink else { return .refuse }
        var taken = delivery.taken(of: bytes.count)
        if let easy { bodyEnd.look(behind: delivery.received + Int64(bytes.count - taken), easy, socket) }
        while taken < bytes.count {
            let count = loop.gate.admits(bytes.count - taken, for: self, now: loop.now)
            if count == 0 {
                delivery.suspend(.limit, after: taken)
                return .pause
            }
            switch sink.transferDidReceive(UnsafeRawBufferPointer(rebasing: bytes[taken..<taken + count])) {
            case .taken:
                delivery.add(count)
                taken += count
            case .pause:
                loop.gate.giveBack(count, from: self, now: loop.now)
                delivery.suspend(.sink, after: taken)
                return .pause
            case .refuse:
                ownEnding = .refused
                return .refuse
            }
        }
        delivery.endPiece(bytes.count)
        guard bodyEnd.overrun?.isOver(behind: delivery.received) == true else { return .taken }
        // The body is whole, but the server has sent more bytes, which libcurl 7.88 would read as the next response.
        // Refusing the piece ends the transfer, which libcurl reports as a write error.
        ownEnding = .complete
        return .refuse
    }

    /// Reports the result to the sink and releases the sink. Further calls do nothing.
    func finish(_ result: TransferResult) {
        guard let sink else { return }
        self.sink = nil
        // The roster is updated first, because a transfer that the sink starts may use the same connection.
        // The roster counts only HTTP transfers. If the side engine could not be started, the first engine of the
        // roster also runs the transfers of FTP and SSH.
        if let number = loop.number, isHTTP {
            loop.shared.roster.withLock { $0.ended(origin, on: number) }
        }
        var result = result
        result.metrics.received = delivery.received
        result.exceedsLength = bodyEnd.overrun?.isFound == true
        result.connection = trace
        sink.transferDidFinish(result)
    }

    private static func resolve(_ location: String, against base: SourceURL) -> String? {
        guard let resolved = dlm_resolve_url(base.string, location) else { return nil }
        defer { curl_free(resolved) }
        return String(cString: resolved)
    }
}
