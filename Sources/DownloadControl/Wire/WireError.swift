import DownloadCore
import Foundation

/// Why something failed: words for everybody, and the error itself for a client that is dlm.
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
    /// The version that is spoken here, where another one was asked for.
    let version: Int?
    let download: DownloadError?

    /// - Parameter message: in place of the error's own words.
    init(_ error: DownloadError, message: String? = nil) {
        kind = error.kind
        reason = error.reason
        self.message = message ?? Self.hidingUserInformation(error.description)
        exitStatus = error.exitStatus
        curlCode = error.curlCode
        httpStatus = error.httpStatus
        errno = error.systemErrno
        if case .sessionUnavailable(.incompatible(_, let spoken)) = error { version = spoken } else { version = nil }
        download = error
    }

    /// The error as it was; of a peer that names one this version does not know, its words.
    func error(from session: String) -> DownloadError {
        download ?? .sessionUnavailable(.badExchange(session, message: message))
    }

    /// An answer to a request that itself is wrong.
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

extension DownloadError {
    /// What HTTP calls it.
    var controlStatus: Int {
        switch self {
        case .requestInvalid: 400
        case .noSuchDownload: 404
        case .sessionUnavailable(.ownedElsewhere), .sessionUnavailable(.alreadyRunning): 409
        case .sessionUnavailable(.incompatible), .sessionUnavailable(.badExchange): 400
        case .sessionUnavailable(.notAnswering): 504
        case .sessionUnavailable: 503
        default: 500
        }
    }
}
