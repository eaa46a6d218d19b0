#if BackgroundSessions
    import DownloadCore
    import DownloadEngine
    import DownloadStorage
    import Foundation

    extension DownloadSession {
        /// Runs a background session in this process, for the processes that open it by its identifier. The program that a
        /// ``BackgroundHost`` names only needs to call this method. The session continues where its predecessor stopped.
        ///
        /// Returns when a process requests the end of the session, when nothing is left to do, or when the surrounding
        /// Swift task is cancelled. Running downloads are then paused, with their resume data on disk. If the process
        /// requested that the session finishes, running downloads run to their ends first. Returns at once if the session
        /// runs already.
        /// - Parameters:
        ///   - configuration: The configuration of a background session.
        ///   - idleTimeout: The time for which the session waits for new downloads when it has none; nil to wait forever. A
        ///     process that adds a download later has to open the session again.
        ///   - adapter: Changes each request before it is sent.
        ///   - retrier: Decides whether another attempt follows a failed attempt.
        ///   - monitors: Receive every event of the session.
        /// - Throws: ``DownloadError`` if the session cannot be opened.
        public static func runBackground(
            _ configuration: SessionConfiguration, idleTimeout: Duration? = .seconds(60),
            adapter: (any RequestAdapter)? = nil, retrier: (any RequestRetrier)? = nil,
            monitors: [any EventMonitor] = []
        ) async throws {
            guard case .background(let identifier) = configuration.kind else {
                throw DownloadError.unexpected("the configuration is not one of a background session")
            }
            try requireUsable(identifier)
            if configuration.stateFolder.isEmpty { throw DownloadError.sessionUnavailable(.noHome) }
            let registry = SessionRegistry(stateFolder: configuration.stateFolder, time: configuration.time)
            let manager = try SessionAssembly(
                configuration: configuration, registry: registry, adapter: adapter, retrier: retrier
            ).manager()
            // A client may add downloads as soon as the session has started.
            let monitoring = await monitor(manager, identifier, monitors)
            do { try await manager.start() } catch DownloadError.sessionUnavailable(.alreadyRunning) {
                return await manager.close()
            } catch {
                await manager.close()
                throw error
            }
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

        /// Returns the background session that is running. If there is none, starts the host program. Without a host
        /// program, starts a session in this process.
        static func background(
            _ identifier: String, _ directory: StoreSessions, _ assembly: SessionAssembly
        ) async throws -> any DownloadService {
            try requireUsable(identifier)
            let configuration = assembly.configuration
            let session = BackgroundSession(
                stateFolder: configuration.stateFolder, identifier: identifier, directory: directory,
                time: configuration.time)
            var process: DetachedProcess?
            return try await session.open(wakes: false) {
                $0
            } orStart: { _ in
                guard let host = configuration.host else { return try await assembly.startedManager() }
                if let ending = process?.ending {
                    throw DownloadError.sessionUnavailable(.startFailed(message: "\(host.executable) \(ending)"))
                }
                process = try process ?? DetachedProcess(host)
                return nil
            }
        }

        /// Throws an error if an identifier is not usable as the name of files in `sessions/`.
        private static func requireUsable(_ identifier: String) throws(DownloadError) {
            guard !identifier.isEmpty, identifier.utf8.count <= 60, !identifier.hasPrefix("."),
                !SessionIdentifier.isForeground(identifier),
                !identifier.utf8.contains(where: { $0 < 0x20 || $0 == 0x2F })
            else { throw .sessionUnavailable(.unusableIdentifier(identifier)) }
        }

        /// Waits until the session has had nothing to do for the time `limit`, or until the task is cancelled.
        private static func waitUntilIdle(_ manager: SessionManager, _ limit: Duration, _ time: any TimeSource) async {
            var idleSince: ContinuousClock.Instant?
            while !Task.isCancelled {
                // If the store fails, it is asked again, and the session does not count as idle.
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
#endif
