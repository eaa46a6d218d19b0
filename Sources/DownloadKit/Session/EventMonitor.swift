import DownloadCore

/// Is told of everything that happens in a session, as Alamofire's protocol of this name: for logs and statistics.
public protocol EventMonitor: Sendable {
    /// Handles an event. Events come in order, one at a time; a slow monitor holds up nobody else.
    /// - Parameter session: the identifier of the session.
    func session(_ session: String, didSend event: DownloadEvent) async
}
