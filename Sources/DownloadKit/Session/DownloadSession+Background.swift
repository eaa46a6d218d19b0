import DownloadCore
import DownloadStorage
import Foundation

extension DownloadSession {
    /// Runs a background session in this process, for the processes that open it by its identifier: the whole work of a
    /// ``BackgroundHost``. The session goes on where its predecessor stopped.
    ///
    /// Returns when a process asks for the end of the session, when nothing is left to do, or when the surrounding Swift
    /// task is cancelled; what still runs is paused then, with its resume data on disk. Returns at once when the session runs
    /// already.
    /// - Parameters:
    ///   - configuration: a background one.
    ///   - idleTimeout: how long the session waits for new downloads when it has none; nil for ever.
    ///   - adapter: changes each request before it is sent.
    ///   - retrier: decides whether a failed attempt is followed by another one.
    ///   - monitors: are told of every event of the session.
    /// - Throws: ``DownloadError`` when the session cannot be opened.
    public static func runBackground(
        _ configuration: SessionConfiguration, idleTimeout: Duration? = .seconds(60),
        adapter: (any RequestAdapter)? = nil, retrier: (any RequestRetrier)? = nil, monitors: [any EventMonitor] = []
    ) async throws {
        guard case .background(let identifier) = configuration.kind, BackgroundDoor.isUsable(identifier) else {
            throw DownloadError.sessionUnavailable(.unusableIdentifier("\(configuration.kind)"))
        }
        if configuration.stateFolder.isEmpty { throw DownloadError.sessionUnavailable(.noHome) }
        let registry = SessionRegistry(stateFolder: configuration.stateFolder, time: configuration.time)
        let manager = try manager(
            configuration, registry, ProcessInfo.processInfo.environment, listener: nil, nil, { _ in },
            adapter: adapter, retrier: retrier)
        do { try await manager.start() } catch DownloadError.sessionUnavailable(.alreadyRunning) {
            return await manager.close()
        } catch {
            await manager.close()
            throw error
        }
        let monitoring = await monitor(manager, identifier, monitors)
        await withTaskGroup { group in
            group.addTask {
                for await mode in manager.shutdownRequests {
                    if mode == .finish { await manager.finish() }
                    return
                }
            }
            if let idleTimeout { group.addTask { await waitUntilIdle(manager, idleTimeout, configuration.time) } }
            await group.next()
            group.cancelAll()
        }
        await manager.pauseAll(.terminate)
        await manager.close()
        for task in monitoring { await task.value }
    }

    /// Returns when the session has had nothing to do for so long, or when the task is cancelled.
    private static func waitUntilIdle(_ manager: SessionManager, _ limit: Duration, _ time: any TimeSource) async {
        var idleSince: ContinuousClock.Instant?
        while !Task.isCancelled {
            // A store that fails is asked again; what is unknown is no idleness.
            let status = try? await manager.status()
            let isIdle = status.map { $0.running + $0.waiting + $0.queued == 0 } ?? false
            if !isIdle { idleSince = nil }
            let since = idleSince ?? time.now
            if isIdle {
                idleSince = since
                if time.now - since >= limit { return }
            }
            do { try await time.sleep(for: .milliseconds(200)) } catch { return }
        }
    }
}
