import DownloadControl
import DownloadCore
import DownloadSystem
import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The HTTP server of the background session. It serves aria2's RPC, the web page, dlm's own API and the metrics. All
/// of them require the secret, except the files of the page, the methods in ``Aria2Method/open``, and notifications to
/// programs on this machine. The metrics also accept a token of their own.
package final class RPCServer: Sendable {
    private let server: ConnectionServer
    private let notifier: Notifier
    private let addressFile: String
    /// The address at which the server answers, such as `http://127.0.0.1:6800`.
    package let address: String

    private init(server: ConnectionServer, notifier: Notifier, address: String, addressFile: String) {
        self.server = server
        self.notifier = notifier
        self.address = address
        self.addressFile = addressFile
    }

    package static func addressFile(in stateFolder: String) -> String { FileNaming.path(stateFolder, "rpc-address") }

    /// The limits for network clients. They are stricter than the limits of the control API, which only the user's own
    /// programs can use.
    package static var limits: ControlLimits {
        var limits = ControlLimits()
        limits.headSize = 16 << 10
        limits.bodySize = 2 << 20
        limits.streams = limits.connections / 4
        // Two descriptors stay free for the user's own commands.
        limits.descriptors = 3
        return limits
    }

    /// - Parameter service: The downloads of all sessions of the store.
    package static func start(
        _ service: any DownloadService, _ configuration: RPCConfiguration, identifier: String,
        limits: ControlLimits = RPCServer.limits, time: any TimeSource = SystemTime(),
        probe: @escaping FilePreview.Probe,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(DownloadError) -> RPCServer {
        let secret = try RPCSecret.load(from: configuration.stateFolder)
        let rule = RequestRule(
            folders: FolderRule(configuration), permitsPrivateHosts: configuration.permitsPrivateHosts)
        let guarded = GuardedService(service: service, rule: rule)
        let session = Aria2Session(guarded, configuration, time: time, report: report)
        let follower = LogFollower(service: guarded, time: time, report: report)
        let counter = EventCounter()
        let gate = SecretGate(secret, time: time)
        let front = RPCFront(
            access: AccessRule(configuration), gate: gate, rpc: JSONRPC(session: session, gate: gate),
            routes: Routes(service: guarded, identifier: identifier, limits: limits, time: time),
            metrics: Metrics(guarded, secret: secret, time: time, counter: counter), folders: rule.folders,
            preview: FilePreview(rule: rule, probe: probe))
        let hub = SocketHub()
        let notifier = Notifier(follower, session, hub, counter)
        let upgrade = SocketUpgrade(access: front.access, rpc: front.rpc, hub: hub, limits: limits)
        var parts = ConnectionServer.Parts(limits: limits) { await front.answer($0) }
        parts.mayUpgrade = { upgrade.permits($0) }
        parts.upgrades = { [upgrade.upgrader($0)] }
        let server: ConnectionServer
        do {
            try await notifier.start()
            server = try await ConnectionServer.start(
                at: .address(try SocketAddress(ipAddress: configuration.host, port: configuration.port)), parts)
        } catch {
            await notifier.end()
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw .sessionUnavailable(
                .startFailed(
                    message: "cannot listen at \(configuration.host), port \(configuration.port): "
                        + "\(reason); choose another one with rpc-listen"))
        }
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        let address = "http://\(host):\(server.address?.port ?? configuration.port)"
        let file = addressFile(in: configuration.stateFolder)
        do {
            try Data((address + "\n").utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            await notifier.end()
            await server.stop()
            throw .sessionUnavailable(.startFailed(message: "the address of the HTTP server cannot be saved: \(error)"))
        }
        return RPCServer(server: server, notifier: notifier, address: address, addressFile: file)
    }

    /// Stops the server, and ends all connections within a second.
    package func stop() async {
        unlink(addressFile)
        await notifier.end()
        await server.stop()
    }

    /// Deletes the address of a server that was killed. Another program may listen at this address now, and `dlm rpc
    /// open` would send the secret to it.
    /// - Throws: ``DownloadError`` if the file cannot be deleted.
    package static func forgetAddress(in stateFolder: String) throws(DownloadError) {
        let file = addressFile(in: stateFolder)
        guard unlink(file) == 0 || errno == ENOENT else {
            throw .fileFailed(.system(operation: "unlink", errno: errno), path: file)
        }
    }
}
