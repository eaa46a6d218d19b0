/// Where the sessions of a store are: who lives, and how to speak to them.
package protocol SessionDirectory: Sendable {
    func isAlive(_ identifier: String) -> Bool
    /// The identifiers of those that live.
    func liveSessions() -> [String]
    /// A live session, which has answered.
    /// - Throws: ``DownloadError/sessionUnavailable(_:)`` when it is not running, does not answer, or speaks another
    ///   version of the API.
    func connect(to identifier: String) async throws -> any DownloadService
    /// The background session, started if need be.
    func startBackground() async throws -> any DownloadService
    /// Lets go of the connections.
    func close()
}

/// How sessions are called.
package enum SessionIdentifier {
    /// The background session of `dlm daemon` and `dlm get -b`.
    package static let background = "background"

    /// A foreground session ends with its process and is never asked for by name; a background one comes back.
    package static func isForeground(_ identifier: String) -> Bool { identifier.hasPrefix("foreground-") }
}
