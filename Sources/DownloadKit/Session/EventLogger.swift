#if Logging
    import DownloadCore
    import Logging

    /// A monitor that writes the events of a session to a logger of swift-log. It needs the package trait `Logging`.
    public struct EventLogger: EventMonitor {
        private let logger: Logger

        /// Makes a monitor. It logs failures as errors, failed attempts that are repeated as warnings, files that begin
        /// again as notices, and other events as information. URLs are not logged, because they may contain secrets.
        public init(_ logger: Logger) { self.logger = logger }

        public func session(_ session: String, didSend event: DownloadEvent) async {
            let progress = event.snapshot.progress
            var metadata: Logger.Metadata = [
                "session": "\(session)", "download": "\(progress.id)", "name": "\(progress.name)",
                "received": "\(progress.received)",
            ]
            var level = Logger.Level.info
            switch event {
            case .didFail(_, let error): (level, metadata["error"]) = (.error, "\(error)")
            case .willRetry(_, let error): (level, metadata["error"]) = (.warning, "\(error)")
            case .didRestart(_, let reason): (level, metadata["reason"]) = (.notice, "\(reason)")
            default: break
            }
            logger.log(level: level, "\(event.kind.rawValue)", metadata: metadata)
        }
    }
#endif
