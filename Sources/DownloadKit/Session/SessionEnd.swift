import DownloadCore

/// The parts of a session that are closed when the session ends.
struct SessionEnd: Sendable {
    let local: SessionManager?
    let observer: TaskObserver
    let directory: StoreSessions
    let joined: [TaskObserver]
    let monitoring: [Task<Void, Never>]

    /// Pauses the downloads that run in this process, saves their resume data, and closes the parts.
    func close() async {
        if let local {
            await local.pauseAll(.terminate)
            await local.close()
            // Monitors must get all events, including the last ones.
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
    /// Waits until every download of the session has ended, and then ends the session. Paused downloads stay paused. A
    /// background session in another process is also asked to end.
    public func finishAndInvalidate() async throws {
        guard beginEnd() else { return }
        let streams = try await snapshots([.queued, .running, .waiting]).map { ($0.id, observer.events(of: $0.id)) }
        // Downloads that have ended between the two calls of `snapshots` send no more events.
        let left = Set(try await snapshots([.queued, .running, .waiting]).map(\.id))
        for (id, events) in streams where left.contains(id) {
            for await event in events where event.endsWait { break }
        }
        if local == nil { try await service.shutdown(.finish) }
        await end.close()
    }

    /// Cancels every download of the session, and then ends the session. The resume data of the downloads is saved. A
    /// background session in another process is also asked to end.
    public func invalidateAndCancel() async throws {
        guard beginEnd() else { return }
        let ids = try await snapshots([.queued, .running, .waiting, .paused]).map(\.id)
        if !ids.isEmpty { _ = try await service.cancel(ids) }
        if local == nil { try await service.shutdown(.pause) }
        await end.close()
    }

    /// Closes the session. Downloads that run in this process are paused, and their resume data is saved. They continue
    /// when they are requested again. A background session in another process continues to run.
    public func close() async {
        guard beginEnd() else { return }
        await end.close()
    }
}

extension DownloadEvent {
    /// Whether the download has ended, or is paused until a caller resumes it.
    fileprivate var endsWait: Bool {
        switch self {
        case .didPause, .didCancel, .didRemove, .didComplete, .didFail: true
        case .didAdd, .didStart, .didRestart, .willRetry, .didPostpone, .didResume, .didChange: false
        }
    }
}
