import DownloadControl
import DownloadCore
import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The upgrade of a connection to a WebSocket (RFC 6455), if the connection's first request is for `/jsonrpc`. A
/// browser lets any page open a WebSocket to any host, so the server must check the origin.
struct SocketUpgrade: Sendable {
    let access: AccessRule
    let rpc: JSONRPC
    let hub: SocketHub
    let limits: ControlLimits

    static let longestMessage = 1 << 20
    static let version = "13"
    static let path = "/jsonrpc"
    private static let mostFrames = 64

    func upgrader(_ gate: EventLoopGate) -> any HTTPServerProtocolUpgrader & Sendable {
        NIOWebSocketServerUpgrader(
            maxFrameSize: Self.longestMessage,
            // ``permits(_:)`` has already checked the request.
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let handler = SocketHandler(
                        rpc: rpc, hub: hub, gate: gate, limits: limits,
                        hears: isLocalProgram(channel, head))
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(MaskRule())
                    try pipeline.addHandler(
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: Self.mostFrames,
                            maxAccumulatedFrameSize: Self.longestMessage))
                    try pipeline.addHandler(handler)
                }
            })
    }

    /// Returns whether a request has one key of 16 bytes in base64 (RFC 6455 section 4.2.1).
    static func hasKey(_ headers: HTTPHeaders) -> Bool {
        let keys = headers["sec-websocket-key"]
        return keys.count == 1 && Data(base64Encoded: keys[0])?.count == 16
    }

    func permits(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        return head.method == .GET && head.version == .http1_1
            && head.uri.prefix { $0 != "?" } == Self.path && access.answersTo(hosts)
            && head.headers["sec-websocket-version"] == [Self.version] && Self.hasKey(head.headers)
            && access.permits(head.headers["origin"], host: hosts) && hub.makeRoom()
    }

    /// Returns whether the client is a program on this machine. A local program receives notifications without the
    /// secret, as aria2p expects. This is safe, because a notification contains only a GID. Web pages and other
    /// machines must first send the secret.
    private func isLocalProgram(_ channel: any Channel, _ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        guard access.isOwn(head.headers["origin"], host: hosts), hosts.count == 1,
            let host = HostName(authority: hosts[0]), host.name == "localhost" || Self.isLoopback(host.name),
            !Self.proxyFields.contains(where: head.headers.contains),
            let peer = channel.remoteAddress?.ipAddress
        else { return false }
        return Self.isLoopback(peer)
    }

    /// The header fields that proxies add. A request with one of these fields does not count as local.
    private static let proxyFields = ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"]

    private static func isLoopback(_ address: String) -> Bool {
        HostName.isAddress(address) && NetworkPath.isLoopback(address)
    }
}

/// A filter that closes the connection at a frame without a mask (RFC 6455 section 5.1). The next handler, which joins
/// fragments, does not keep the masks.
private final class MaskRule: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard Self.unwrapInboundIn(data).maskKey != nil else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
