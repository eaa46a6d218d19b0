import DownloadCore
import DownloadSystem
import Glibc
import NIOCore

/// A channel handler for the listening socket. It accepts no connection while the connection table is full, or while
/// few descriptors are free.
final class AcceptGate: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = Never

    private let table: ConnectionTable
    private var context: ChannelHandlerContext?
    private var isHeld = false
    private var retry: Scheduled<Void>?

    init(_ table: ConnectionTable) { self.table = table }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        table.whenRoom = { [weak self] in self?.goOn() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        retry?.cancel()
        table.whenRoom = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        table.admit(Self.unwrapInboundIn(data))
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        isHeld = true
        makeRoom()
    }

    private func goOn() {
        guard isHeld, !table.isFull, FreeDescriptors.hasRoom(for: table.limits.descriptors) else { return }
        isHeld = false
        context?.read()
    }

    private func makeRoom() {
        goOn()
        guard isHeld, let context else { return }
        table.closeWaitingOne()
        retry?.cancel()
        retry = context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(500)) { [weak self] in
            self?.makeRoom()
        }
    }
}

/// The peer of a Unix socket, as the kernel recorded it when the peer connected (unix(7), SO_PEERCRED).
struct PeerCredentials: Sendable {
    private var process: pid_t = 0
    private var user: uid_t = .max
    private var group: gid_t = .max

    /// Whether the peer is a process of the same user as this process. Connections of all other users are refused, even
    /// those of root.
    var isOurs: Bool { user == geteuid() }

    struct Refusal: Error {}

    static func verify(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(Refusal())
        }
        let peer: EventLoopFuture<PeerCredentials> = socket.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return peer.flatMapThrowing { if !$0.isOurs { throw Refusal() } }
    }
}
