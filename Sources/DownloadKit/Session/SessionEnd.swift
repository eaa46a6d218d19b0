import DownloadCore

/// The parts of a session that are closed with it.
struct SessionEnd: Sendable {
    let local: SessionManager?
    let observer: TaskObserver
    let directory: StoreSessions
    let joined: [TaskObserver]
    let monitoring: [Task<Void, Never>]

    /// Pauses the downloads that run in this process, with their resume data on disk, and closes the parts.
    func close() async {
        if let local {
            await local.pauseAll(.terminate)
            await local.close()
            // Monitors get all events to the end.
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
        // Downloads that have ended between the two reads send no more events.
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

    /// Leaves the session. Downloads that run in this process are paused with their resume data on disk, and continue
    /// when they are requested again. A background session in another process continues to run.
    public func close() async {
        guard beginEnd() else { return }
        await end.close()
    }
}

extension DownloadEvent {
    /// Whether the download stops with this event until a caller continues it.
    fileprivate var endsWait: Bool {
        switch self {
        case .didPause, .didCancel, .didRemove, .didComplete, .didFail: true
        case .didAdd, .didStart, .didRestart, .willRetry, .didPostpone, .didResume, .didChange: false
        }
    }
}
