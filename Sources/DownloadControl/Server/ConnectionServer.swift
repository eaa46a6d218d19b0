import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A server that accepts connections on one socket and answers their HTTP/1.1 requests, within ``ControlLimits``. One
/// thread serves the sockets. Each request is answered in a task of its own.
package final class ConnectionServer: Sendable {
    package typealias Answer = @Sendable (ControlRequest) async -> ControlAnswer

    package enum Place: Sendable {
        /// A listening socket, which is closed at the end.
        case descriptor(Int32)
        case address(SocketAddress)
    }

    /// The parts that decide what a server does with its connections.
    package struct Parts: Sendable {
        let limits: ControlLimits
        let answer: Answer
        /// Returns a future that fails if a connection must not be served.
        var verify: @Sendable (any Channel) -> EventLoopFuture<Void> = { $0.eventLoop.makeSucceededVoidFuture() }
        /// Returns whether a connection may switch protocols when its first request asks for this. If not, the request
        /// is answered like any other request.
        package var mayUpgrade: @Sendable (HTTPRequestHead) -> Bool = { _ in false }
        /// Returns the protocols to which a connection may switch with its first request. Through the gate, tasks run
        /// code on the event loop.
        package var upgrades: @Sendable (EventLoopGate) -> [any HTTPServerProtocolUpgrader & Sendable] = { _ in [] }

        package init(limits: ControlLimits, answer: @escaping Answer) {
            self.limits = limits
            self.answer = answer
        }
    }

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let table: NIOLoopBound<ConnectionTable>
    private let gate: EventLoopGate
    private let isStopped = Mutex(false)

    private init(
        group: MultiThreadedEventLoopGroup, channel: any Channel, table: NIOLoopBound<ConnectionTable>,
        gate: EventLoopGate
    ) {
        self.group = group
        self.channel = channel
        self.table = table
        self.gate = gate
    }

    /// The address at which the server listens. If port 0 was requested, the address has the port that the kernel
    /// chose.
    package var address: SocketAddress? { channel.localAddress }

    package static func start(at place: Place, _ parts: Parts) async throws -> ConnectionServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let eventLoop = group.next()
        do {
            let (table, gate) = try await eventLoop.submit {
                let table = ConnectionTable(answer: parts.answer, limits: parts.limits, eventLoop: eventLoop)
                return (NIOLoopBound(table, eventLoop: eventLoop), table.gate)
            }.get()
            let bootstrap = bootstrap(group, table, parts)
            let channel =
                switch place {
                case .descriptor(let descriptor): try await bootstrap.withBoundSocket(descriptor).get()
                case .address(let address):
                    // With SO_REUSEADDR, a port can be used although old connections of the port are in TIME_WAIT
                    // (socket(7)).
                    try await bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                        .childChannelOption(.socketOption(.so_keepalive), value: 1).bind(to: address).get()
                }
            return ConnectionServer(group: group, channel: channel, table: table, gate: gate)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup, _ table: NIOLoopBound<ConnectionTable>, _ parts: Parts
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptGate(table.value))
                }
            }
            .childChannelInitializer { channel in
                parts.verify(channel).flatMapThrowing {
                    try equip(channel, table.value, parts)
                }
            }
    }

    private static func equip(
        _ channel: any Channel, _ table: ConnectionTable, _ parts: Parts
    ) throws {
        let upgrades = parts.upgrades(table.gate)
        var limit = NIOHTTPDecoderLimitConfiguration()
        limit.maxHeaderFieldSize = table.limits.headSize
        limit.maxHeaderListSize = table.limits.headSize
        let connection = ConnectionHandler(server: table)
        let watch = ByteWatch(connection)
        let encoder = HTTPResponseEncoder()
        let decoder = ByteToMessageHandler(
            HTTPRequestDecoder(
                leftOverBytesStrategy: upgrades.isEmpty ? .dropBytes : .forwardBytes,
                informationalResponseStrategy: .drop, limitConfiguration: limit))
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([watch, encoder, decoder])
        if !upgrades.isEmpty {
            let filter = UpgradeFilter(mayUpgrade: parts.mayUpgrade)
            try pipeline.addHandler(filter)
            try pipeline.addHandler(
                HTTPServerUpgradeHandler(
                    upgraders: upgrades, httpEncoder: encoder, extraHTTPHandlers: [watch, decoder, filter, connection],
                    upgradeCompletionHandler: { _ in }))
        }
        try pipeline.addHandler(connection)
    }

    /// Stops accepting connections, waits for the answers in progress at most ``ControlLimits/farewell``, and ends the
    /// thread.
    package func stop() async {
        if isStopped.withLock({ isStopped in
            defer { isStopped = true }
            return isStopped
        }) {
            return
        }
        let isEmpty = channel.eventLoop.flatSubmit { [channel, table] in
            channel.close(promise: nil)
            let farewell = TimeAmount(table.value.limits.farewell)
            let hurry = channel.eventLoop.scheduleTask(in: farewell) { table.value.closeAll() }
            let isEmpty = table.value.finish()
            isEmpty.whenComplete { _ in hurry.cancel() }
            return isEmpty
        }
        // The two calls with `try?` cannot fail: the promise always succeeds, and no other code uses the group.
        try? await isEmpty.get()
        gate.shut()
        try? await group.shutdownGracefully()
    }
}

/// A filter that removes the field `Upgrade` from a request that may not switch protocols. The request is then answered
/// like any other request, and the answer tells the client why.
private final class UpgradeFilter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let mayUpgrade: @Sendable (HTTPRequestHead) -> Bool

    init(mayUpgrade: @escaping @Sendable (HTTPRequestHead) -> Bool) { self.mayUpgrade = mayUpgrade }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = Self.unwrapInboundIn(data), head.headers.contains(name: "Upgrade"),
            !mayUpgrade(head)
        else { return context.fireChannelRead(data) }
        head.headers.remove(name: "Upgrade")
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
    }
}
