import DownloadCore

/// Is told of everything that happens in a session, as Alamofire's protocol of this name: for logs and statistics.
public protocol EventMonitor: Sendable {
    /// Handles an event. Events come in order, one at a time; a slow monitor holds up nobody else.
    /// - Parameters:
    ///   - session: the identifier of the session.
    ///   - event: what happened, with the download at that moment.
    func session(_ session: String, didSend event: DownloadEvent) async
}
