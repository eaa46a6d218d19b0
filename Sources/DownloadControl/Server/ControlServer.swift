import DownloadCore
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Serves a `DownloadService` to other processes of the same user: HTTP/1.1 and JSON on a Unix socket (docs/api.md).
/// One thread for the sockets; each request is answered in a task of its own.
package final class ControlServer: Sendable {
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let table: NIOLoopBound<ConnectionTable>
    private let gate: EventLoopGate
    private let listener: UnixListener
    private let farewell: Duration
    private let isStopped = Mutex(false)

    private init(
        group: MultiThreadedEventLoopGroup, channel: any Channel, table: NIOLoopBound<ConnectionTable>,
        gate: EventLoopGate, listener: UnixListener, farewell: Duration
    ) {
        self.group = group
        self.channel = channel
        self.table = table
        self.gate = gate
        self.listener = listener
        self.farewell = farewell
    }

    /// The caller holds the lock of the session: a socket that lies there already belongs to nobody.
    /// - Parameter descriptor: a listening socket to take over instead (`LISTEN_FDS`); it is closed at the end.
    package static func start(
        _ service: any DownloadService, at location: SessionLocation, listener descriptor: Int32? = nil,
        limits: ControlLimits = ControlLimits(), time: any TimeSource = SystemTime()
    ) async throws(DownloadError) -> ControlServer {
        let listener =
            if let descriptor { try UnixListener.adopt(descriptor, location) } else { try UnixListener.bind(location) }
        // Downloads may have taken them all by now, and the event loop ends the process where it finds none.
        guard FreeDescriptors.has(8) else {
            listener.unlinkFile()
            throw .unexpected("cannot serve \(location.socketPath): \(String(cString: strerror(EMFILE)))")
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let eventLoop = group.next()
        let routes = Routes(service: service, identifier: location.identifier, limits: limits, time: time)
        do {
            let (table, gate) = try await eventLoop.submit {
                let table = ConnectionTable(routes: routes, limits: limits, eventLoop: eventLoop)
                return (NIOLoopBound(table, eventLoop: eventLoop), table.gate)
            }.get()
            let channel = try await bootstrap(group, table).withBoundSocket(listener.descriptor).get()
            listener.restoreBacklog()
            return ControlServer(
                group: group, channel: channel, table: table, gate: gate, listener: listener,
                farewell: limits.farewell)
        } catch {
            listener.unlinkFile()
            try? await group.shutdownGracefully()
            throw .unexpected("cannot serve \(location.socketPath): \(error)")
        }
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup, _ table: NIOLoopBound<ConnectionTable>
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptGate(table.value))
                }
            }
            .childChannelInitializer { channel in
                PeerCredentials.verify(channel).flatMapThrowing { try equip(channel, table.value) }
            }
    }

    private static func equip(_ channel: any Channel, _ table: ConnectionTable) throws {
        var limit = NIOHTTPDecoderLimitConfiguration()
        limit.maxHeaderFieldSize = table.limits.headSize
        limit.maxHeaderListSize = table.limits.headSize
        let connection = ConnectionHandler(server: table)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteWatch(connection))
        try pipeline.addHandler(HTTPResponseEncoder())
        try pipeline.addHandler(
            ByteToMessageHandler(
                HTTPRequestDecoder(
                    leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop, limitConfiguration: limit))
        )
        try pipeline.addHandler(connection)
    }

    /// Accepts nobody any more, lets answers on their way go out, and ends the thread; within a second.
    package func stop() async {
        if isStopped.withLock({ isStopped in
            defer { isStopped = true }
            return isStopped
        }) {
            return
        }
        listener.unlinkFile()
        let table = table
        let channel = channel
        let farewell = TimeAmount(farewell)
        let eventLoop = channel.eventLoop
        let isEmpty = eventLoop.flatSubmit {
            channel.close(promise: nil)
            let hurry = eventLoop.scheduleTask(in: farewell) { table.value.closeAll() }
            let isEmpty = table.value.finish()
            isEmpty.whenComplete { _ in hurry.cancel() }
            return isEmpty
        }
        // Neither can fail: the promise is only ever kept, and the group is ours alone.
        try? await isEmpty.get()
        gate.shut()
        try? await group.shutdownGracefully()
    }
}
