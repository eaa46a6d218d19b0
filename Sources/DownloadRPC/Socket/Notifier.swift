import DownloadCore

/// The sender of notifications about downloads of all sessions to the WebSockets. It reads the log of the store from
/// the start of the server on, so that a client which has just connected misses nothing.
actor Notifier {
    private let service: any DownloadService
    private let session: Aria2Session
    private let hub: SocketHub
    private var task: Task<Void, Never>?
    /// The downloads between two attempts. Their next start is not reported.
    private var retrying: Set<DownloadID> = []
    private static let mostRetrying = 10_000

    init(_ service: any DownloadService, _ session: Aria2Session, _ hub: SocketHub) {
        self.service = service
        self.session = session
        self.hub = hub
    }

    /// Begins to send notifications.
    /// - Throws: An error if the store's log cannot be read.
    func start() async throws {
        let log = try await service.log(since: nil)
        task = Task { [weak self] in
            // If the log ends with an error, the notifications end, too. Clients also ask for the states of their
            // downloads.
            do { for try await entry in log { await self?.report(entry) } } catch {}
        }
    }

    func end() {
        task?.cancel()
        task = nil
    }

    private func report(_ entry: LogEntry) async {
        guard case .event(let event) = entry else { return }
        if event.kind == .waiting, retrying.count < Self.mostRetrying { retrying.insert(event.id) }
        let isRetry = event.kind == .started && retrying.contains(event.id)
        if event.kind != .waiting { retrying.remove(event.id) }
        guard hub.isHeard, !isRetry, let notification = Aria2Notification(event.kind) else { return }
        let gid = await session.gids.gid(of: event.id)
        hub.broadcast(String(decoding: notification.message(gid).data, as: UTF8.self))
    }
}
