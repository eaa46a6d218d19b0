import DownloadCore
import Foundation

/// The reason of a failure: a text for every client, and the error itself for a dlm client.
struct WireError: Codable, Sendable {
    struct Document: Codable, Sendable {
        var version = WireCoder.version
        let error: WireError
    }

    let kind: String
    let reason: String
    let message: String
    let exitStatus: Int32
    let curlCode: Int?
    let httpStatus: Int?
    let errno: Int32?
    /// The API version of the session, if the request asked for another version.
    let version: Int?
    let download: DownloadError?

    /// - Parameter message: the text to use instead of the error's own description.
    init(_ error: DownloadError, message: String? = nil) {
        kind = error.kind
        reason = error.reason
        if case .sessionUnavailable(.badExchange(_, let text)) = error {
            // The client makes the same error from the message.
            (self.message, download) = (message ?? text, nil)
        } else {
            (self.message, download) = (message ?? Self.hidingUserInformation(error.description), error)
        }
        exitStatus = error.exitStatus
        curlCode = error.curlCode
        httpStatus = error.httpStatus
        errno = error.systemErrno
        if case .sessionUnavailable(.incompatible(_, let spoken)) = error { version = spoken } else { version = nil }
    }

    /// Returns the original error. If this version does not know the error, returns an error with the peer's message.
    func error(from session: String) -> DownloadError {
        download ?? .sessionUnavailable(.badExchange(session, message: message))
    }

    /// Returns a response that refuses a request, for example because it is malformed.
    static func answer(_ status: Int, _ message: String, session: String = "") -> ControlAnswer {
        answer(status, .sessionUnavailable(.badExchange(session, message: message)))
    }

    static func answer(_ status: Int, _ error: DownloadError, message: String? = nil) -> ControlAnswer {
        .json(Document(error: WireError(error, message: message)), status: status)
    }

    private static func hidingUserInformation(_ text: String) -> String {
        let bytes = Array(text.utf8)
        return UserInformation.hiding(UserInformation.inURLs(bytes), in: bytes)
    }
}
