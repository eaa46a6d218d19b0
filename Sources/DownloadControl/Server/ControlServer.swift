import DownloadCore
import DownloadSystem
import Foundation
import NIOCore

/// The server of a `DownloadService` for other processes of the same user, with HTTP/1.1 and JSON on a Unix socket
/// (docs/api.md).
package final class ControlServer: Sendable {
    private let server: ConnectionServer
    private let listener: UnixListener

    private init(server: ConnectionServer, listener: UnixListener) {
        self.server = server
        self.listener = listener
    }

    /// Starts a server. The caller has the lock of the session, so an existing socket was left by a dead session.
    /// - Parameter descriptor: A listening socket to adopt (`LISTEN_FDS`), instead of a new one. The server closes the
    ///   socket at its end.
    package static func start(
        _ service: any DownloadService, at location: SessionLocation, listener descriptor: Int32? = nil,
        limits: ControlLimits = ControlLimits(), time: any TimeSource = SystemTime()
    ) async throws(DownloadError) -> ControlServer {
        let listener =
            if let descriptor { UnixListener.adopt(descriptor) } else { try UnixListener.bind(location) }
        // Downloads may have used up the file descriptors by now, and the event loop ends the process if it gets none.
        guard FreeDescriptors.has(8) else {
            listener.unlinkFile()
            throw .unexpected("cannot serve \(location.socketPath): \(String(cString: strerror(EMFILE)))")
        }
        let routes = Routes(service: service, identifier: location.identifier, limits: limits, time: time)
        var parts = ConnectionServer.Parts(limits: limits) { await routes.answer($0) }
        parts.verify = PeerCredentials.verify
        do {
            let server = try await ConnectionServer.start(at: .descriptor(listener.descriptor), parts)
            listener.restoreBacklog()
            return ControlServer(server: server, listener: listener)
        } catch {
            listener.unlinkFile()
            throw .unexpected("cannot serve \(location.socketPath): \(error)")
        }
    }

    /// Stops accepting connections, waits for the answers in progress at most ``ControlLimits/farewell``, and ends the
    /// thread.
    package func stop() async {
        listener.unlinkFile()
        await server.stop()
    }
}
