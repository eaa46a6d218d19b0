import DownloadCore

/// A type that receives every event of a session, for logs and statistics. The counterpart of Alamofire's
/// `EventMonitor`.
public protocol EventMonitor: Sendable {
    /// Handles an event. Events are delivered in order, one at a time. A slow monitor does not delay the session or
    /// other monitors.
    /// - Parameters:
    ///   - session: The identifier of the session.
    ///   - event: The event, with the download at that moment.
    func session(_ session: String, didSend event: DownloadEvent) async
}
