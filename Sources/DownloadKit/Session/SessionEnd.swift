import DownloadCore

/// The parts of a session that are closed with it.
struct SessionEnd: Sendable {
    let local: SessionManager?
    let observer: TaskObserver
    let directory: StoreSessions
    let joined: [TaskObserver]
    let monitoring: [Task<Void, Never>]

    /// Pauses what runs in this process, with its resume data on disk.
    func close() async {
        if let local {
            await local.pauseAll(.terminate)
            await local.close()
            // Monitors read to the end of the events.
            for task in monitoring { await task.value }
            await observer.waitUntilFinished()
        } else {
            for task in monitoring { task.cancel() }
        }
        observer.close()
        for other in joined { other.close() }
        directory.close()
    }
}

extension DownloadSession {
    /// Lets every download of the session end, and then ends the session. Downloads that are paused stay paused. A
    /// background session in another process is asked to end as well.
    public func finishAndInvalidate() async throws {
        guard beginEnd() else { return }
        let streams = try await snapshots([.queued, .running, .waiting]).map { ($0.id, observer.events(of: $0.id)) }
        // What has ended between the two questions has no event any more.
        let left = Set(try await snapshots([.queued, .running, .waiting]).map(\.id))
        for (id, events) in streams where left.contains(id) {
            for await event in events where event.endsWait { break }
        }
        if local == nil { try await service.shutdown(.finish) }
        await end.close()
    }

    /// Cancels every download of the session, with its resume data on disk, and then ends the session. A background session
    /// in another process is asked to end as well.
    public func invalidateAndCancel() async throws {
        guard beginEnd() else { return }
        let ids = try await snapshots([.queued, .running, .waiting, .paused]).map(\.id)
        if !ids.isEmpty { _ = try await service.cancel(ids) }
        if local == nil { try await service.shutdown(.pause) }
        await end.close()
    }

    /// Leaves the session: what runs in this process is paused with its resume data on disk, and goes on when it is asked
    /// for again. A background session in another process goes on.
    public func close() async {
        guard beginEnd() else { return }
        await end.close()
    }
}

extension DownloadEvent {
    /// Nothing happens to the download any more unless somebody asks for it.
    fileprivate var endsWait: Bool {
        switch self {
        case .didPause, .didCancel, .didRemove, .didComplete, .didFail: true
        case .didAdd, .didStart, .didRestart, .willRetry, .didPostpone, .didResume, .didChange: false
        }
    }
}
