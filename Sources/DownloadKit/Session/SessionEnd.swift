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

extension DownloadEvent {
    /// Whether the download stops with this event until a caller continues it.
    var endsWait: Bool {
        switch self {
        case .didPause, .didCancel, .didRemove, .didComplete, .didFail: true
        case .didAdd, .didStart, .didRestart, .willRetry, .didPostpone, .didResume, .didChange: false
        }
    }
}
