import DownloadControl
import DownloadCore
import Foundation
import NIOCore
import NIOWebSocket

/// The handler of one WebSocket. Calls are answered one after another, and notifications are sent between the answers.
/// The handler must be used only on the event loop.
final class SocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let rpc: JSONRPC
    private let hub: SocketHub
    private let gate: EventLoopGate
    private let limits: ControlLimits
    /// Whether the client receives notifications. Programs on this machine receive them at once, other clients after a
    /// call with the secret.
    private let hears: Bool
    private var number: Int?
    /// The timer that ends the connection if the client has not sent the secret by then.
    private var deadline: Scheduled<Void>?
    /// The number of notifications that have not been written to the socket yet.
    private var unsent = 0
    private var context: ChannelHandlerContext?
    /// The messages that arrived while another message was being answered.
    private var waiting = CircularBuffer<ByteBuffer>()
    private var isBusy = false
    private var readIsHeld = false

    /// The greatest number of notifications that wait, for example behind a long answer.
    static let mostUnsent = 1000

    init(
        rpc: JSONRPC, hub: SocketHub, gate: EventLoopGate, limits: ControlLimits, hears: Bool
    ) {
        self.rpc = rpc
        self.hub = hub
        self.gate = gate
        self.limits = limits
        self.hears = hears
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let (handler, gate) = (NIOLoopBound(self, eventLoop: context.eventLoop), gate)
        let close: @Sendable () -> Void = { _ = gate.execute { handler.value.context?.close(promise: nil) } }
        number = hub.add(hears: hears, close: close) { message in
            _ = gate.execute { handler.value.notify(message) }
        }
        if hears { return }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.request)) { [weak self] in
            self?.context?.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        context = nil
        deadline?.cancel()
        guard let number else { return }
        self.number = nil
        hub.remove(number)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            waiting.append(frame.unmaskedData)
            answerNext()
        case .ping:
            // A client that sends pings without reading the answers would fill the memory.
            guard context.channel.isWritable else { return context.close(promise: nil) }
            send(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData))
        case .connectionClose:
            send(WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData))
            context.close(promise: nil)
        default: break
        }
    }

    /// Does not read while a message waits behind the one that is being answered. So a client cannot send faster than
    /// dlm answers.
    func read(context: ChannelHandlerContext) {
        if isBusy, waiting.count > 0 { readIsHeld = true } else { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answerNext() {
        guard !isBusy, let context, let message = waiting.popFirst() else { return }
        isBusy = true
        let (handler, gate) = (NIOLoopBound(self, eventLoop: context.eventLoop), gate)
        let client = SecretGate.client(context.channel.remoteAddress)
        let bytes = Data(message.readableBytesView)
        Task { [rpc] in
            let reply = await rpc.answer(bytes, from: client)
            _ = gate.execute { handler.value.finish(reply) }
        }
    }

    private func finish(_ reply: JSONRPC.Reply) {
        guard let context else { return }
        if reply.isAuthorized, let number {
            self.deadline?.cancel()
            hub.authorize(number)
        }
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.write)) { [weak self] in
            self?.context?.close(promise: nil)
        }
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            deadline.cancel()
            self?.didAnswer()
        }
        send(text(String(decoding: reply.document.data, as: UTF8.self)), promise)
    }

    private func didAnswer() {
        isBusy = false
        answerNext()
        if readIsHeld, !isBusy || waiting.isEmpty {
            readIsHeld = false
            context?.read()
        }
    }

    /// Sends a notification. If too many notifications wait because the client does not read, the connection is closed.
    private func notify(_ message: String) {
        guard let context else { return }
        guard unsent < Self.mostUnsent else { return context.close(promise: nil) }
        unsent += 1
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.unsent -= 1 }
        send(text(message), promise)
    }

    private func text(_ message: String) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: message))
    }

    private func send(_ frame: WebSocketFrame, _ promise: EventLoopPromise<Void>? = nil) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.writeAndFlush(Self.wrapOutboundOut(frame), promise: promise)
    }
}
