import DownloadCore
import Foundation
import NIOCore
import NIOHTTP1

/// The handler of one client's connection. It collects a request within the limits, starts a task that answers the
/// request, and continues with the next request after the answer. Used on the event loop only.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = AnswerPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        case idle
        case receiving
        case answering
        /// A request was refused. Further bytes of the client are dropped until the client closes the connection, or
        /// ``ControlLimits/linger`` is over.
        case draining
    }

    private let server: ConnectionTable
    private var context: ChannelHandlerContext?
    private var phase = Phase.idle
    /// The parts of further requests that the client sent while a request was being answered.
    private var ahead = CircularBuffer<HTTPServerRequestPart>()
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var headBytes = 0
    private var readIsHeld = false
    private var closesAfterAnswer = false
    /// Whether the request is of HTTP/1.0, which has no chunked bodies (RFC 9112 section 6.1).
    private var isOld = false
    private var timer: Scheduled<Void>?
    private var task: Task<Void, Never>?
    private var isEndless = false
    /// The time since when the connection waits for its client: for the next request, or for the rest of a request.
    private(set) var waitsSince: NIODeadline?
    /// The address of the client, without its port; nil on a Unix socket.
    var peer: String? { context?.channel.remoteAddress?.ipAddress }

    init(server: ConnectionTable) { self.server = server }

    // MARK: From the client

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    /// Also called when the connection changes to another protocol.
    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        server.remove(self)
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        server.add(self)
        becomeIdle()
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        if isEndless { task?.cancel() }
        server.remove(self)
        context.fireChannelInactive()
    }

    /// Called for all bytes before the parser gets them.
    func willRead(_ count: Int) {
        if phase == .idle { beginRequest() }
        if phase == .receiving, head == nil { headBytes += count }
    }

    func didRead() {
        if phase == .receiving, head == nil, headBytes > server.limits.headSize { refuse(.headTooLarge) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = Self.unwrapInboundIn(data)
        switch phase {
        case .draining: return
        case .answering: ahead.append(part)
        case .idle, .receiving: take(part)
        }
    }

    func read(context: ChannelHandlerContext) {
        if phase == .answering { readIsHeld = true } else { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError, phase != .draining, phase != .answering else {
            if phase != .draining { context.close(promise: nil) }
            return
        }
        refuse(error == .headerOverflow ? .headTooLarge : .malformed)
    }

    private func beginRequest() {
        phase = .receiving
        waitsSince = .now()
        headBytes = 0
        startTimer(server.limits.request) { $0.refuse(.tooSlow) }
    }

    private func take(_ part: HTTPServerRequestPart) {
        switch part {
        case .head(let head):
            if phase == .idle { beginRequest() }
            self.head = head
            body.clear()
            let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            if length > server.limits.bodySize { return refuse(.bodyTooLarge) }
            let codings = head.headers["transfer-encoding"]
            if !codings.isEmpty, codings.map({ $0.lowercased() }) != ["chunked"] { return refuse(.unknownCoding) }
            if head.headers.contains(where: { $0.lowercased() == "expect" && $1.lowercased() == "100-continue" }) {
                context?.writeAndFlush(
                    Self.wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
            }
        case .body(var piece):
            waitsSince = .now()
            if body.readableBytes + piece.readableBytes > server.limits.bodySize { return refuse(.bodyTooLarge) }
            body.writeBuffer(&piece)
        case .end: answer()
        }
    }

    private func answer() {
        guard let head, let context else { return }
        timer?.cancel()
        waitsSince = nil
        phase = .answering
        isOld = head.version != .http1_1
        let request = ControlRequest(
            method: head.method.rawValue, target: head.uri, body: Data(body.readableBytesView), headers: head.headers,
            peer: context.channel.remoteAddress, isOld: isOld)
        // Without chunks, only the end of the connection can mark the end of an answer.
        // While all connections are taken, each request gives its place to a client that waits.
        let keepAlive = head.isKeepAlive && !isOld && !server.isFull
        self.head = nil
        body = ByteBuffer()
        let writer = AnswerWriter(
            channel: context.channel, gate: server.gate, limits: server.limits, isHead: head.method == .HEAD)
        task = Task { [answer = server.answer] in
            await writer.send(await answer(request), keepAlive: keepAlive)
        }
    }

    // MARK: To the client

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(var head, let isEndless):
            if isOld {
                head.version = .http1_0
                head.headers.remove(name: "Transfer-Encoding")
            }
            context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
            self.isEndless = isEndless
        case .body(let bytes): context.write(Self.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
        case .end(let keepAlive): end(context, keepAlive: keepAlive, promise)
        case .whole(let head, let bytes, let keepAlive):
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
            end(context, keepAlive: keepAlive, promise)
        }
    }

    private func end(_ context: ChannelHandlerContext, keepAlive: Bool, _ promise: EventLoopPromise<Void>?) {
        let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in self.didAnswer(keepAlive: keepAlive) }
        context.write(Self.wrapOutboundOut(.end(nil)), promise: promise)
    }

    private func didAnswer(keepAlive: Bool) {
        guard phase == .answering, let context, context.channel.isActive else { return }
        task = nil
        isEndless = false
        guard keepAlive, !closesAfterAnswer else { return context.close(promise: nil) }
        becomeIdle()
        while phase != .answering, phase != .draining, let part = ahead.popFirst() { take(part) }
        if phase != .answering, readIsHeld {
            readIsHeld = false
            context.read()
        }
    }

    /// Answers with the reason for the refusal, and closes the connection, because dlm cannot tell where the client's
    /// next request would begin.
    private func refuse(_ answer: ControlAnswer) {
        guard let context, phase != .draining else { return }
        phase = .draining
        ahead.removeAll()
        body = ByteBuffer()
        context.write(
            Self.wrapOutboundOut(.head(AnswerWriter.head(answer, keepAlive: false))), promise: nil)
        if case .whole(let bytes) = answer.body {
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
        }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        // The connection is closed later. If it were closed while unread bytes are left, the kernel would reset it, and
        // the client might lose the answer.
        startTimer(server.limits.linger) { $0.context?.close(promise: nil) }
        context.read()
    }

    // MARK: Between two requests

    private func becomeIdle() {
        phase = .idle
        waitsSince = .now()
        startTimer(server.limits.idle) { $0.context?.close(promise: nil) }
    }

    /// Closes the connection, now or after the answer in progress.
    func finish() {
        guard phase == .answering else { return close() }
        closesAfterAnswer = true
        if isEndless { task?.cancel() }
    }

    func close() { context?.close(promise: nil) }

    private func startTimer(_ delay: Duration, _ body: @escaping (ConnectionHandler) -> Void) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
            if let self { body(self) }
        }
    }
}

/// A counter of bytes before they are parsed, for the limits on a head that is not complete yet.
final class ByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.willRead(Self.unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
        connection.didRead()
    }
}
