import DownloadCore

/// The sender of notifications to the WebSockets, about downloads of all sessions. It reads the log of the store from
/// the start of the server, so that a client that has just connected misses nothing.
actor Notifier {
    private let follower: LogFollower
    private let session: Aria2Session
    private let hub: SocketHub
    private var task: Task<Void, Never>?
    /// The downloads that wait for another attempt. The start of this attempt is not reported.
    private var retrying: Set<DownloadID> = []
    private static let mostRetrying = 10_000

    init(_ follower: LogFollower, _ session: Aria2Session, _ hub: SocketHub) {
        self.follower = follower
        self.session = session
        self.hub = hub
    }

    /// Begins to send notifications.
    /// - Throws: An error if the store's log cannot be read.
    func start() async throws {
        let log = try await follower.service.log(since: nil)
        task = Task { [weak self, follower] in
            await follower.follow(for: "notifications", log) { await self?.report($0) }
        }
    }

    func end() {
        task?.cancel()
        task = nil
    }

    private func report(_ event: LoggedEvent) async {
        if event.kind == .waiting, retrying.count < Self.mostRetrying { retrying.insert(event.id) }
        let isRetry = event.kind == .started && retrying.contains(event.id)
        if event.kind != .waiting { retrying.remove(event.id) }
        guard hub.isHeard, !isRetry, let notification = Aria2Notification(event.kind) else { return }
        let gid = await session.gids.gid(of: event.id)
        hub.broadcast(String(decoding: notification.message(gid).data, as: UTF8.self))
    }
}
