import DownloadCore

/// The sender of notifications to the WebSockets, about downloads of all sessions. It reads the log of the store from
/// the start of the server, so that a client that has just connected misses nothing. It also passes the events to the
/// counter of the metrics.
actor Notifier {
    private let follower: LogFollower
    private let session: Aria2Session
    private let hub: SocketHub
    private let counter: EventCounter
    private var task: Task<Void, Never>?
    private var retrying = RetryingDownloads()
    private var beginning = BeginningDownloads()

    init(_ follower: LogFollower, _ session: Aria2Session, _ hub: SocketHub, _ counter: EventCounter) {
        self.follower = follower
        self.counter = counter
        self.session = session
        self.hub = hub
    }

    /// Begins to send notifications.
    /// - Throws: An error if the store's log cannot be read.
    func start() async throws {
        let log = try await follower.service.log(since: nil)
        task = Task { [weak self, follower] in
            await follower.follow(log) { await self?.report($0) }
        }
    }

    func end() {
        task?.cancel()
        task = nil
    }

    private func report(_ event: LoggedEvent) async {
        await counter.count(event, at: follower.time.date)
        let isRetry = retrying.isRetry(event)
        let neverStarted = beginning.neverStarted(event)
        guard hub.isHeard, !isRetry, let notification = Aria2Notification.ofEvents[event.kind] else { return }
        let gid = await session.gids.gid(of: event.id)
        for notification in neverStarted ? [.start, notification] : [notification] {
            hub.broadcast(String(decoding: notification.message(gid).data, as: UTF8.self))
        }
    }
}

/// The downloads that wait for another attempt. The start of this attempt is not reported to clients.
struct RetryingDownloads {
    private var ids: Set<DownloadID> = []
    private static let mostIDs = 10_000

    /// Records an event, and returns whether it is the start of another attempt.
    mutating func isRetry(_ event: LoggedEvent) -> Bool {
        if event.kind == .waiting {
            if !event.waitsForSchedule, ids.count < Self.mostIDs { ids.insert(event.id) }
            return false
        }
        return ids.remove(event.id) != nil && event.kind == .started
    }
}

/// The downloads that have not started since they were added. Clients expect the start of a download before its end.
struct BeginningDownloads {
    private var ids: Set<DownloadID> = []
    private static let mostIDs = 10_000

    /// Records an event, and returns whether it is the end of a download that never started.
    mutating func neverStarted(_ event: LoggedEvent) -> Bool {
        if event.kind == .added, ids.count < Self.mostIDs { ids.insert(event.id) }
        guard event.kind == .started || event.kind == .removed || event.kind.isEnd else { return false }
        return ids.remove(event.id) != nil && [.completed, .failed].contains(event.kind)
    }
}

extension LoggedEvent {
    /// Whether the download waits for its schedule, and not for another attempt.
    var waitsForSchedule: Bool { if case .waiting(.schedule, _)? = state { true } else { false } }
}
