import DownloadControl
import NIOCore
import Synchronization

/// The open WebSockets.
final class SocketHub: Sendable {
    private struct Entry: Sendable {
        let send: @Sendable (String) -> Void
        let close: @Sendable () -> Void
        var hears: Bool
        /// Whether the client has sent the secret.
        var isAuthorized = false
    }

    private struct State: Sendable {
        var entries: [Int: Entry] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    /// The greatest number of WebSockets at the same time. The limit leaves connections for other clients.
    static let most = RPCServer.limits.connections / 2

    /// Makes room for another WebSocket. If there are too many, the oldest one that has not sent the secret is closed:
    /// of a stranger, or else of a program on this machine, which hears without the secret.
    /// - Returns: False if there are too many, and all of them have sent the secret.
    func makeRoom() -> Bool {
        let (hasRoom, close) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            if state.entries.count < Self.most { return (true, nil) }
            let silent = state.entries.filter { !$0.value.isAuthorized }
            guard let oldest = silent.filter({ !$0.value.hears }).keys.min() ?? silent.keys.min() else {
                return (false, nil)
            }
            return (true, state.entries.removeValue(forKey: oldest)?.close)
        }
        close?()
        return hasRoom
    }

    /// Whether any client receives notifications.
    var isHeard: Bool { state.withLock { $0.entries.values.contains { $0.hears } } }

    /// Adds a WebSocket, and returns its number.
    /// - Parameter hears: Whether the client receives notifications at once. Otherwise it receives them after
    ///   ``authorize(_:)``.
    func add(
        hears: Bool, close: @escaping @Sendable () -> Void, _ send: @escaping @Sendable (String) -> Void
    ) -> Int {
        state.withLock { state in
            state.next += 1
            state.entries[state.next] = Entry(send: send, close: close, hears: hears)
            return state.next
        }
    }

    /// Records that a client has sent the secret. It receives notifications from now on.
    func authorize(_ number: Int) {
        state.withLock {
            $0.entries[number]?.hears = true
            $0.entries[number]?.isAuthorized = true
        }
    }

    func remove(_ number: Int) { state.withLock { $0.entries[number] = nil } }

    func broadcast(_ message: String) {
        let entries = state.withLock { $0.entries.values.filter(\.hears) }
        for entry in entries { entry.send(message) }
    }
}
