import DownloadCore

/// Tells WebSockets what happens to downloads, whichever session runs them. The log of the store is read only while somebody
/// listens.
actor Notifier {
    private let service: any DownloadService
    private let session: Aria2Session
    private let hub: SocketHub
    private var task: Task<Void, Never>?
    private var hasEnded = false
    /// Downloads between two attempts: their next start is no news.
    private var retrying: Set<DownloadID> = []
    private static let mostRetrying = 10_000

    init(_ service: any DownloadService, _ session: Aria2Session, _ hub: SocketHub) {
        self.service = service
        self.session = session
        self.hub = hub
    }

    /// After a socket was opened, closed, or had the secret.
    func update() {
        if hub.isHeard, task == nil, !hasEnded {
            task = Task { [service] in
                // A store that cannot be read ends the notifications; the next socket tries again.
                guard let log = try? await service.log(since: nil) else { return self.forgetTask() }
                do { for try await entry in log { await self.report(entry) } } catch {}
                self.forgetTask()
            }
        } else if !hub.isHeard {
            task?.cancel()
            task = nil
        }
    }

    func end() {
        hasEnded = true
        task?.cancel()
        task = nil
    }

    private func forgetTask() { if !Task.isCancelled { task = nil } }

    private func report(_ entry: LogEntry) async {
        guard case .event(let event) = entry else { return }
        if event.kind == .waiting, retrying.count < Self.mostRetrying { retrying.insert(event.id) }
        let isRetry = event.kind == .started && retrying.contains(event.id)
        if event.kind != .waiting { retrying.remove(event.id) }
        guard !isRetry, let notification = Aria2Notification(event.kind) else { return }
        let gid = await session.gids.gid(of: event.id)
        hub.broadcast(String(decoding: notification.message(gid).data, as: UTF8.self))
    }
}
