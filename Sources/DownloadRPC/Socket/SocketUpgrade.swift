import DownloadControl
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Turns a connection into a WebSocket (RFC 6455) where its first request asks for `/jsonrpc`. A browser lets any page open
/// one to any host, and leaves it to the server to look at the origin.
struct SocketUpgrade: Sendable {
    let access: AccessRule
    let rpc: JSONRPC
    let hub: SocketHub
    let limits: ControlLimits

    static let longestMessage = 1 << 20
    private static let mostFrames = 64

    func upgrader(_ gate: EventLoopGate) -> any HTTPServerProtocolUpgrader & Sendable {
        NIOWebSocketServerUpgrader(
            maxFrameSize: Self.longestMessage,
            // Judged by ``permits(_:)`` before.
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let handler = SocketHandler(
                        rpc: rpc, hub: hub, gate: gate, limits: limits,
                        hears: isLocalProgram(channel, head))
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: Self.mostFrames,
                            maxAccumulatedFrameSize: Self.longestMessage))
                    try pipeline.addHandler(handler)
                }
            })
    }

    func permits(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        return head.uri.prefix { $0 != "?" } == "/jsonrpc" && access.answersTo(hosts)
            && access.permits(head.headers["origin"], host: hosts) && !hub.isFull
    }

    /// Whether a WebSocket is of a program of this machine, which is sent notifications without the secret, as aria2p expects:
    /// a notification has a GID and nothing else. Web pages and other machines have to show the secret first, also those that
    /// come through a reverse proxy on this machine.
    private func isLocalProgram(_ channel: any Channel, _ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        guard access.isOwn(head.headers["origin"], host: hosts), hosts.count == 1,
            let host = HostName(authority: hosts[0]), host.name == "localhost" || Self.isLoopback(host.name),
            !Self.proxyFields.contains(where: head.headers.contains),
            let peer = channel.remoteAddress?.ipAddress
        else { return false }
        return Self.isLoopback(peer)
    }

    /// Fields that proxies add. That they are there takes something away; nothing is granted for them.
    private static let proxyFields = ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"]

    private static func isLoopback(_ address: String) -> Bool {
        HostName.isAddress(address)
            && (address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127."))
    }
}
