/// Why a download, or a command, failed: the case says what failed, the nested reason why.
/// Foreign errors arrive as code and message.
public enum DownloadError: Error, Codable, Equatable, Sendable {
    case requestInvalid(RequestFailure)
    case fileFailed(FileFailure, path: String)
    case networkFailed(NetworkFailure, TransportDiagnosis)
    case trustFailed(TransportDiagnosis)
    /// - Parameter hint: why, where more than the refusal is known.
    case authenticationFailed(status: Int, hint: String? = nil)
    case protocolViolated(ProtocolFailure)
    case serverRefused(status: Int, phrase: String)
    case verificationFailed(VerificationFailure)
    case noSuchDownload(DownloadID)
    case cancelled
    case sessionUnavailable(SessionFailure)
    /// The download is complete, and its file is not there as it was left.
    case completedFile(CompletedFileFate, path: String)
    case unexpected(String)
}

public enum RequestFailure: Codable, Equatable, Sendable {
    case malformedURL(String)
    case missingScheme(String)
    /// With the URL.
    case unsupportedScheme(String)
    /// With the URL; libcurl was built without it.
    case missingProtocol(String, scheme: String)
    /// With the URL of a folder.
    case folder(String)
    /// With the URL, and what its scheme has no place for.
    case notForScheme(String, what: String)
    /// Secrets are not stored: they must be given again.
    case missingSecrets([String])
    /// With the URL, and what is asked of it.
    case schemeNotAllowed(String, only: String)
    /// A file that was to hold a secret holds none; with its path and why.
    case unusableSecret(String)
    /// A rule for the answer that no answer can satisfy: no media type, or no status code.
    case unusableValidation(String)
}

public enum FileFailure: Codable, Equatable, Sendable {
    /// The final name is taken.
    case exists
    /// The final name is taken by something that is never replaced: a folder, a link, a device.
    case notReplaceable
    /// `NAME.part` is there and no download owns it.
    case partialExists
    /// Another process writes the partial file.
    case locked
    /// The partial file is not the one that was written.
    case replaced
    /// The partial file was written to by another program since its download stopped.
    case altered
    /// Another program cut the partial file short.
    case truncated
    /// The partial file is not there, and neither is the file system it was on.
    case partialMissing
    /// The partial file was deleted while it was written to.
    case deleted
    case folderMissing
    /// The path of the folder leads somewhere else now, or nowhere.
    case folderMoved
    case permissionDenied
    /// The file system is mounted read-only, whatever the permissions are.
    case readOnly
    case noSpace(needed: Int64?)
    case nameUnusable
    /// A document names a file that would lie outside of the folder, or be hidden in it.
    case nameOutside
    /// A folder, a device, a pipe.
    case notRegular
    case system(operation: String, errno: Int32)
}

public enum NetworkFailure: String, Codable, Equatable, Sendable {
    case nameResolution, connect, timedOut, stalled, connectionLost
    /// The time that the user gave the download is over.
    case timeLimit
    /// The address of this machine that the connection came from is gone, or the machine has slept.
    case networkChanged
}

/// What the transport said: libcurl's code and its message, and the system's error number if there was one.
public struct TransportDiagnosis: Codable, Equatable, Sendable {
    public let code: Int
    public let message: String
    public let errno: Int32

    public init(code: Int, message: String, errno: Int32 = 0) {
        self.code = code
        self.message = message
        self.errno = errno
    }

    /// Such words begin so; certificates are spoken of by the TLS library.
    var isAboutHostKey: Bool { message.hasPrefix("SSH: ") }
}

public enum ProtocolFailure: Codable, Equatable, Sendable {
    case redirectRefused(String)
    case tooManyRedirects(Int)
    case redirectWithoutLocation
    /// A range was asked for and the answer holds another one.
    case wrongRange(String)
    case malformedReply(String)
    /// A Metalink document that cannot be used: which one, and why.
    case badMetalink(String)
}

public enum VerificationFailure: Codable, Equatable, Sendable {
    case checksum(expected: Checksum, actual: String)
    case size(expected: Int64, actual: Int64)
    /// The server now answers with another kind of content than the download began with (a login page, say).
    case unexpectedType(was: String, is: String)
    /// The server sends another kind of content than the user wants; nil when it does not tell.
    case unwantedType(wanted: String, is: String?)
    /// The server answers with a status that the user does not want.
    case unwantedStatus(wanted: String, is: String)
    /// More bytes than the user wants; without a size they came without one.
    case tooLarge(limit: Int64, size: Int64?)
    /// A file that was to be continued is not the beginning of the server's.
    case notItsBeginning(path: String, why: String)
    /// Bytes went to a stream that cannot take them back, and the rest is of another version.
    case streamBroken(String)
    /// The file on the server changed while it was being fetched, and the answer does not show a whole new version.
    case changed(String)
    /// The address that was given for the rest of a download has another file.
    case otherFile(String)
    /// So many bytes are in pieces that are not what they should be; they are given up.
    case wrongPieces(Int64)
    /// A mirror has another file than the one that was begun.
    case otherMirror(String)
    /// The file is not what its server says that it is.
    case serverDigest(expected: Checksum, actual: String)
    /// Nothing but the end of its connection ended the body, and that may have been cut (RFC 9112 section 8).
    case endUnproved
    /// There is nothing to verify it against; with what, and why.
    case unverifiable(String)
}

public enum SessionFailure: Codable, Equatable, Sendable {
    case storeUnreadable(path: String, message: String)
    /// Another live session runs it.
    case ownedElsewhere(DownloadID, session: String)
    case alreadyRunning(String)
    /// Nobody has this name at the moment.
    case notRunning(String)
    /// It lives, and does not answer.
    case notAnswering(String, message: String)
    /// It speaks another version of the control API.
    case incompatible(String, version: Int)
    /// What it answered makes no sense, or it could make no sense of the question.
    case badExchange(String, message: String)
    /// The background session could not be started.
    case startFailed(message: String)
    case noHome
    case shuttingDown
    /// It is to be found by this identifier, which is no file name.
    case unusableIdentifier(String)
}
