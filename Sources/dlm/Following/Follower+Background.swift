import DownloadKit
import Synchronization

extension Follower {
    /// Hands the downloads of this process to the background session, which keeps their bytes, and ends the command.
    /// The status is not 0, because the files are not complete.
    /// - Returns: The reason why the downloads stay here; nil if they do not.
    func moveToBackground(_ proxies: CarriedProxies) async throws -> String? {
        if !narrator.keepsUnfinished { return "these downloads are not recorded, so they cannot go on elsewhere" }
        if !ledger.withLock(\.hasAll) { return "the list is still being read; try again when all downloads are known" }
        // If there can be no background session, nothing is paused.
        _ = try await service.background()
        let ids = ledger.withLock { ledger in
            // The pauses are not reported.
            ledger.isInterrupted = true
            return ledger.here.sorted()
        }
        do {
            let moved = try await service.moveToBackground(ids, adapt: { proxies.applied(to: $0) })
            perform { follower in
                let others = follower.ledger.withLock { ledger -> Set<DownloadID>? in
                    // If all have ended meanwhile, their events end the command.
                    if moved.isEmpty, ledger.elsewhere.isEmpty { return nil }
                    ledger.isOver = true
                    ledger.failures.reject(status: 1)
                    return ledger.elsewhere
                }
                guard let others else { return }
                let joined = try await follower.service.snapshots(.ids(others.sorted())).map(\.record)
                follower.display.end()
                follower.narrator.goOnElsewhere(moved + joined, active: others, isExpected: false)
            }
        } catch {
            // All downloads are paused by now, and this command cannot continue them.
            await interrupt(.interrupt)
            perform { _ in throw error }
        }
        return nil
    }
}
