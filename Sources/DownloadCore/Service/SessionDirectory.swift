/// The sessions of a store: which of them are running, and the connections to them.
package protocol SessionDirectory: Sendable {
    func isAlive(_ identifier: String) -> Bool
    func liveSessions() -> [String]
    /// Returns a running session, after it has answered.
    /// - Throws: ``DownloadError/sessionUnavailable(_:)`` if the session is not running, does not answer, or has
    ///   another version of the API.
    func connect(to identifier: String) async throws -> any DownloadService
    /// Returns the background session, and starts it if it is not running.
    func startBackground() async throws -> any DownloadService
    /// Closes the connections.
    func close()
}

package enum SessionIdentifier {
    /// The background session of `dlm daemon` and `dlm get -b`.
    package static let background = "background"

    /// Returns whether an identifier belongs to a foreground session. A foreground session ends with its process.
    /// Unlike the background session, it is never started again under the same identifier.
    package static func isForeground(_ identifier: String) -> Bool { identifier.hasPrefix("foreground-") }
}
