import DownloadCore

/// A type that receives every event of a session, for logs and statistics. The counterpart of Alamofire's
/// `EventMonitor`.
public protocol EventMonitor: Sendable {
    /// Handles an event. Events come in order, one at a time. A slow monitor delays nothing else.
    /// - Parameters:
    ///   - session: The identifier of the session.
    ///   - event: The event, with the download at that moment.
    func session(_ session: String, didSend event: DownloadEvent) async
}
