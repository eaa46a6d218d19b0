import DownloadCore
import Foundation
import NIOCore
import Synchronization

/// The server of a `DownloadService` for other processes of the same user, with HTTP/1.1 and JSON on a Unix socket
/// (docs/api.md). The socket listens from the start, but the event loop starts when the first client connects. Most
/// commands end before that, and the event loop would be an eighth of the instructions of a small download.
package final class ControlServer: Sendable {
    private enum State: Sendable {
        /// No client has connected.
        case waiting(Watch)
        /// The event loop was started. The task returns nil if the loop could not start.
        case begun(Task<ConnectionServer?, Never>)
        case stopped
    }

    /// A source that calls `begin()` when a client connects. All threads may use dispatch objects (dispatch(3)).
    private struct Watch: @unchecked Sendable {
        let source: any DispatchSourceRead
        /// Ends when the source has closed its descriptor, after the cancellation.
        let closed: AsyncStream<Never>
        /// Descriptors that are kept free for the event loop. It ends the process if it gets none.
        let reserve: [Int32]

        /// Ends the source, and closes its descriptor and the reserve.
        func end() async {
            source.cancel()
            for await _ in closed {}
            for descriptor in reserve { close(descriptor) }
        }
    }

    private let listener: UnixListener
    private let parts: ConnectionServer.Parts
    private let state: Mutex<State>
    private let notice: @Sendable (String) -> Void

    private init(
        _ listener: UnixListener, _ watch: Watch, _ parts: ConnectionServer.Parts,
        _ notice: @escaping @Sendable (String) -> Void
    ) {
        self.listener = listener
        self.parts = parts
        self.notice = notice
        state = Mutex(.waiting(watch))
    }

    /// Starts a server. The caller has the lock of the session, so an existing socket was left by a dead session.
    /// - Parameters:
    ///   - descriptor: A listening socket to adopt (`LISTEN_FDS`), instead of a new one. The server closes the socket
    ///     at its end.
    ///   - notice: Reports that the event loop cannot start, as text for the user.
    package static func start(
        _ service: any DownloadService, at location: SessionLocation, listener descriptor: Int32? = nil,
        limits: ControlLimits = ControlLimits(), time: any TimeSource = SystemTime(),
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(DownloadError) -> ControlServer {
        let listener =
            if let descriptor { try UnixListener.adopt(descriptor, location) } else { try UnixListener.bind(location) }
        // The source has a descriptor of its own, because it closes its descriptor at a time that nobody knows. Downloads
        // may have used up the descriptors by now.
        guard FreeDescriptors.has(8), let watched = listener.duplicate() else {
            listener.unlinkFile()
            listener.close()
            throw .unexpected("cannot serve \(location.socketPath): \(String(cString: strerror(EMFILE)))")
        }
        let routes = Routes(service: service, identifier: location.identifier, limits: limits, time: time)
        let parts = ConnectionServer.Parts(
            limits: limits, answer: { await routes.answer($0) }, verify: PeerCredentials.verify)
        let source = DispatchSource.makeReadSource(fileDescriptor: watched, queue: .global())
        let (closed, ending) = AsyncStream.makeStream(of: Never.self)
        source.setCancelHandler {
            close(watched)
            ending.finish()
        }
        let watch = Watch(source: source, closed: closed, reserve: (0..<4).compactMap { _ in listener.duplicate() })
        let server = ControlServer(listener, watch, parts) {
            notice("cannot serve \(location.socketPath): \($0)")
        }
        source.setEventHandler { [weak server] in server?.begin() }
        source.activate()
        return server
    }

    /// Whether the event loop was started.
    package var hasBegun: Bool {
        state.withLock { if case .waiting = $0 { false } else { true } }
    }

    private func begin() {
        state.withLock { state in
            guard case .waiting(let watch) = state else { return }
            // The source would call again until it is cancelled.
            watch.source.cancel()
            state = .begun(Task { await serve(after: watch) })
        }
    }

    private func serve(after watch: Watch) async -> ConnectionServer? {
        await watch.end()
        do {
            let server = try await ConnectionServer.start(at: .descriptor(listener.descriptor), parts)
            listener.restoreBacklog()
            return server
        } catch {
            listener.unlinkFile()
            notice("\(error)")
            return nil
        }
    }

    /// Stops accepting connections, waits for the answers in progress at most ``ControlLimits/farewell``, and ends the
    /// thread.
    package func stop() async {
        listener.unlinkFile()
        let last = state.withLock { state in
            defer { state = .stopped }
            return state
        }
        switch last {
        case .waiting(let watch):
            listener.close()
            await watch.end()
        case .begun(let task): await task.value?.stop()
        case .stopped: return
        }
    }
}
