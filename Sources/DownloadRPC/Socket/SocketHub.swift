import DownloadControl
import NIOCore
import Synchronization

/// The open WebSockets.
final class SocketHub: Sendable {
    private struct Entry: Sendable {
        let send: @Sendable (String) -> Void
        var hears: Bool
    }

    private struct State: Sendable {
        var entries: [Int: Entry] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    /// The greatest number of WebSockets at the same time. The limit leaves connections for other clients.
    static let most = 32

    var isFull: Bool { state.withLock { $0.entries.count >= Self.most } }
    /// Whether any client receives notifications.
    var isHeard: Bool { state.withLock { $0.entries.values.contains { $0.hears } } }

    /// Adds a WebSocket, and returns its number.
    /// - Parameter hears: Whether the client receives notifications at once. Otherwise it receives them after
    ///   ``startHearing(_:)``.
    func add(hears: Bool, _ send: @escaping @Sendable (String) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.entries[state.next] = Entry(send: send, hears: hears)
            return state.next
        }
    }

    func startHearing(_ number: Int) { state.withLock { $0.entries[number]?.hears = true } }

    func remove(_ number: Int) { state.withLock { $0.entries[number] = nil } }

    func broadcast(_ message: String) {
        let entries = state.withLock { $0.entries.values.filter(\.hears) }
        for entry in entries { entry.send(message) }
    }
}
