import DownloadCore
import DownloadEngine

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
