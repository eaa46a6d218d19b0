import Foundation
import Glibc

/// The error of a download or a command. The case says what failed, and the nested reason says why. Errors of libcurl
/// and the system are kept as codes and messages.
///
/// New versions may add cases, here and in the reasons. From Swift 6.3 on, a `switch` outside of this package needs an
/// `@unknown default`.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum DownloadError: Error, Codable, Equatable, Sendable {
    /// The request cannot be sent as it is.
    case requestInvalid(RequestFailure)
    /// A file or folder of this machine cannot be used.
    case fileFailed(FileFailure, path: String)
    /// The server was not reached, or the connection did not last.
    case networkFailed(NetworkFailure, TransportDiagnosis)
    /// The server did not prove its identity, or it refused the certificate of the client.
    case trustFailed(TransportDiagnosis)
    /// The server or a proxy refused the login.
    /// - Parameter hint: The reason for the refusal, if it is known.
    case authenticationFailed(status: Int, hint: String? = nil)
    /// The server violated its protocol.
    case protocolViolated(ProtocolFailure)
    /// The server refused the request. The status is 0 if the protocol of the server has no statuses.
    case serverRefused(status: Int, phrase: String)
    /// The server's bytes are not the wanted file.
    case verificationFailed(VerificationFailure)
    /// The store has no download with this ID.
    case noSuchDownload(DownloadID)
    /// The download was cancelled.
    case cancelled
    /// A session or its store cannot be used.
    case sessionUnavailable(SessionFailure)
    /// The download is complete, but its file was deleted or changed afterwards.
    case completedFile(CompletedFileFate, path: String)
    /// A failure of another kind, with a text that describes it.
    case unexpected(String)

    /// The error for a server that sends parts which nothing proves to be of one version.
    package static let partsUnproved = DownloadError.verificationFailed(
        .unverifiable(
            "the server sends the file in parts, without a strong ETag or Last-Modified to prove that they are of one "
                + "version; only a checksum can prove the file"))

    /// The error for a file that must be proved, and for which no digest is known.
    package static let unproved = DownloadError.verificationFailed(
        .unverifiable("no digest proves the file, so it does not get its name; its bytes are kept"))

    /// The error for a repair of a file whose pieces have no known digests.
    package static let piecesUnknown = DownloadError.verificationFailed(
        .unverifiable("the digests of its pieces are not known; a Metalink document with these digests is needed"))

    /// The words with which error texts name the command that prints new links (``Hooks/urlCommand``).
    package static let newLinkCommand = "the command for a new link"

    /// Returns the error for a download whose time limit has passed.
    /// - Parameter last: The error of the last attempt, if no time is left for another attempt.
    package static func overdue(_ request: DownloadRequest, last: DownloadError?) -> DownloadError {
        let limit = (request.timeouts.total?.inSeconds ?? 0).formatted(.number.grouping(.never))
        let why = last.map { "the limit of \(limit) s leaves no time for another attempt after: \($0)" }
        return .networkFailed(
            .timeLimit, TransportDiagnosis(code: 0, message: why ?? "the limit of \(limit) s has passed"))
    }
}

/// The reason why a request cannot be sent.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RequestFailure: Codable, Equatable, Sendable {
    /// The text is not a URL.
    case malformedURL(String)
    /// The text has no scheme such as `https:`.
    case missingScheme(String)
    /// The scheme is not supported; with the URL.
    case unsupportedScheme(String)
    /// libcurl was built without the scheme.
    case missingProtocol(scheme: String)
    /// The URL names a folder; with the URL.
    case folder(String)
    /// The request has an option that the scheme does not support; with the URL and the option.
    case notForScheme(String, what: String)
    /// Only http and https have request bodies; with the URL.
    case bodyNotForScheme(String)
    /// Only http and https have request methods; with the URL.
    case methodNotForScheme(String)
    /// libcurl was built without an option of the request.
    case missingOption
    /// Secrets are missing, because they are not stored. They must be given again.
    case missingSecrets([String])
    /// The options of the request allow only another scheme; with the URL and the allowed scheme.
    case schemeNotAllowed(String, only: String)
    /// A file contains no usable secret; with the path of the file and the reason.
    case unusableSecret(String)
    /// A condition for the answer is not a media type or a status code.
    case unusableValidation(String)
}

/// The reason why a file or folder cannot be used.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum FileFailure: Codable, Equatable, Sendable {
    /// The final name is taken.
    case exists
    /// The final name is taken by something that is never replaced: a folder, a link, a device.
    case notReplaceable
    /// `NAME.part` exists and does not belong to this download.
    case partialExists
    /// Another process writes the partial file.
    case locked
    /// The partial file was replaced by another file.
    case replaced
    /// Another program wrote to the partial file during the download or since it stopped.
    case altered
    /// Another program cut bytes off the partial file.
    case truncated
    /// The partial file is missing together with its folder or its file system.
    case partialMissing
    /// The partial file was deleted during the download.
    case deleted
    /// The folder is missing and must not be created.
    case folderMissing
    /// The path of the folder now leads to another folder, or to none.
    case folderMoved
    /// The permissions do not allow the operation.
    case permissionDenied
    /// The file system is mounted read-only.
    case readOnly
    /// The disk is full; with the number of bytes that are needed, if it is known.
    case noSpace(needed: Int64?)
    /// The name, or the path to it, is too long.
    case nameUnusable
    /// A Metalink document names a file that would lie outside of the destination folder, or be hidden in it.
    case nameOutside
    /// The path is not a regular file, but for example a folder, a device or a pipe.
    case notRegular
    /// A system call failed, with its error number.
    case system(operation: String, errno: Int32)
}

/// The reason why there was no connection, or why it broke.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum NetworkFailure: String, Codable, Equatable, Sendable {
    /// The host name was not resolved (`nameResolution`), no connection was made (`connect`), the connection took too
    /// long (`timedOut`), no bytes came for too long (`stalled`), or the connection broke (`connectionLost`).
    case nameResolution, connect, timedOut, stalled, connectionLost
    /// The time limit of the request has passed.
    case timeLimit
    /// The local address of the connection is gone, or the machine has slept.
    case networkChanged
}

/// The diagnosis of the transport: libcurl's code and message, and the system's error number if there was one.
public struct TransportDiagnosis: Codable, Equatable, Sendable {
    /// The code of libcurl; 0 if libcurl reported no error.
    package let code: Int
    /// The message of libcurl, of its TLS library, or of dlm.
    public let message: String
    /// The error number of the system; 0 if there was none.
    package let errno: Int32

    /// Whether the message is about an SSH host key; nil if it is not.
    let isAboutHostKey: Bool?

    package init(code: Int, message: String, errno: Int32 = 0, isAboutHostKey: Bool? = nil) {
        self.code = code
        self.message = message
        self.errno = errno
        self.isAboutHostKey = isAboutHostKey
    }
}

/// The violation of a protocol by a server.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ProtocolFailure: Codable, Equatable, Sendable {
    /// A redirect that the policy does not follow; with its target.
    case redirectRefused(String)
    /// More redirects than the policy follows.
    case tooManyRedirects(Int)
    /// A redirect without a target.
    case redirectWithoutLocation
    /// The answer has another range than the request.
    case wrongRange(String)
    /// An answer that cannot be parsed; with a description of the error.
    case malformedReply(String)
    /// A Metalink document that cannot be used; with the document and the reason.
    case badMetalink(String)
}

/// The reason why the server's bytes are not the wanted file.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum VerificationFailure: Codable, Equatable, Sendable {
    /// The file does not have the checksum of the request.
    case checksum(expected: Checksum, actual: String)
    /// The file does not have the requested or announced size.
    case size(expected: Int64, actual: Int64)
    /// The server now sends another content type than at the beginning of the download, for example a login page.
    case unexpectedType(was: String, is: String)
    /// The server sends another content type than the user wants; nil if the server names no type.
    case unwantedType(wanted: String, is: String?)
    /// The server answers with a status that the user does not want.
    case unwantedStatus(wanted: String, is: String)
    /// The file is larger than the user wants; nil if the server announced no size.
    case tooLarge(limit: Int64, size: Int64?)
    /// A file that was to be continued is not the beginning of the server's file.
    case notItsBeginning(path: String, why: String)
    /// The rest of the file has, or may have, another version than the bytes already written to a stream.
    case streamBroken(String)
    /// The file on the server changed while it was being fetched, and the answer does not show a whole new version.
    case changed(String)
    /// The new URL of a download has another file.
    case otherFile(String)
    /// Pieces do not match their digests, and are given up; with the number of bytes in these pieces.
    case wrongPieces(Int64)
    /// A mirror has another file than the download began with.
    case otherMirror(String)
    /// The file does not match the digest that the server sent.
    case serverDigest(expected: Checksum, actual: String)
    /// Only the closed connection marked the end of the body, so the body may have been cut off (RFC 9112 section 8).
    case endUnproved
    /// Nothing proves the file, or that its parts belong to one version; with the reason.
    case unverifiable(String)
    /// A signed list is older than the last one that was seen in its folder; with its URL, and the times of both.
    case olderList(document: String, signed: Date, seen: Date)
    /// A signature in a folder is by another key than the only one that counts there, which was recorded at a time.
    case otherSigner(document: String, key: String, pinned: String, since: Date)
}

/// The reason why a session or its store cannot be used.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SessionFailure: Codable, Equatable, Sendable {
    /// The store cannot be opened.
    case storeUnreadable(path: String, message: String)
    /// Another live session owns the download.
    case ownedElsewhere(DownloadID, session: String)
    /// A live session has this identifier.
    case alreadyRunning(String)
    /// No live session has this identifier.
    case notRunning(String)
    /// The session is alive, but does not answer.
    case notAnswering(String, message: String)
    /// The session has another version of the control API.
    case incompatible(String, version: Int)
    /// The answer of the session cannot be understood, or the session could not understand the request.
    case badExchange(String, message: String)
    /// The background session could not be started.
    case startFailed(message: String)
    /// Neither `HOME` nor `XDG_STATE_HOME` names a folder.
    case noHome
    /// The session has ended or is about to end.
    case shuttingDown
    /// The identifier is not usable as a file name.
    case unusableIdentifier(String)
}

extension DownloadError {
    /// Returns the error for a failed system call on a file.
    package static func file(_ code: Int32, _ operation: String, path: String) -> DownloadError {
        let failure: FileFailure =
            switch code {
            case ENOSPC, EDQUOT: .noSpace(needed: nil)
            case EACCES, EPERM: .permissionDenied
            case EROFS: .readOnly
            case ENOENT: .folderMissing
            case EEXIST: .exists
            case ENAMETOOLONG: .nameUnusable
            case ELOOP: .replaced
            default: .system(operation: operation, errno: code)
            }
        return .fileFailed(failure, path: path)
    }

    /// Returns the error for a failed system call on a file that the user has named, such as a file with secrets.
    package static func givenFile(_ code: Int32, _ operation: String, _ path: String) -> DownloadError {
        let isForbidden = code == EACCES || code == EPERM
        return .fileFailed(isForbidden ? .permissionDenied : .system(operation: operation, errno: code), path: path)
    }
}
