import DownloadCore
import Foundation
import NIOCore

/// Serves a `DownloadService` to other processes of the same user: HTTP/1.1 and JSON on a Unix socket (docs/api.md).
package final class ControlServer: Sendable {
    private let server: ConnectionServer
    private let listener: UnixListener

    private init(server: ConnectionServer, listener: UnixListener) {
        self.server = server
        self.listener = listener
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
        let routes = Routes(service: service, identifier: location.identifier, limits: limits, time: time)
        do {
            let server = try await ConnectionServer.start(
                at: .descriptor(listener.descriptor),
                ConnectionServer.Parts(
                    limits: limits, answer: { await routes.answer($0) }, verify: PeerCredentials.verify))
            listener.restoreBacklog()
            return ControlServer(server: server, listener: listener)
        } catch {
            listener.unlinkFile()
            throw .unexpected("cannot serve \(location.socketPath): \(error)")
        }
    }

    /// Accepts nobody any more, lets answers on their way go out, and ends the thread; within a second.
    package func stop() async {
        listener.unlinkFile()
        await server.stop()
    }
}
