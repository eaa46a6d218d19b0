/// Why a download, or a command, failed: the case says what failed, the nested reason why.
/// Foreign errors arrive as code and message.
public enum DownloadError: Error, Codable, Equatable, Sendable {
    /// The request cannot be sent as it is.
    case requestInvalid(RequestFailure)
    /// A file or folder of this machine cannot be used.
    case fileFailed(FileFailure, path: String)
    /// The server was not reached, or the connection did not last.
    case networkFailed(NetworkFailure, TransportDiagnosis)
    /// The server did not prove its identity.
    case trustFailed(TransportDiagnosis)
    /// - Parameter hint: why, where more than the refusal is known.
    case authenticationFailed(status: Int, hint: String? = nil)
    /// The server does not keep to its protocol.
    case protocolViolated(ProtocolFailure)
    /// The server answered with an error status; 0 where its protocol has none.
    case serverRefused(status: Int, phrase: String)
    /// What the server sends is not the file that is wanted.
    case verificationFailed(VerificationFailure)
    /// The store has no download of this number.
    case noSuchDownload(DownloadID)
    /// The download was cancelled.
    case cancelled
    /// A session or its store cannot be used.
    case sessionUnavailable(SessionFailure)
    /// The download is complete, and its file is not there as it was left.
    case completedFile(CompletedFileFate, path: String)
    /// A failure of another kind, in words.
    case unexpected(String)
}

/// Why a request cannot be sent.
public enum RequestFailure: Codable, Equatable, Sendable {
    /// The text is no URL.
    case malformedURL(String)
    /// The text has no scheme such as `https:`.
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

/// Why a file or folder cannot be used.
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
    /// The folder is missing, and is not to be made.
    case folderMissing
    /// The path of the folder leads somewhere else now, or nowhere.
    case folderMoved
    /// The permissions do not allow it.
    case permissionDenied
    /// The file system is mounted read-only, whatever the permissions are.
    case readOnly
    /// The disk is full; with the bytes that are needed, where they are known.
    case noSpace(needed: Int64?)
    /// The name, or the path to it, is too long.
    case nameUnusable
    /// A document names a file that would lie outside of the folder, or be hidden in it.
    case nameOutside
    /// A folder, a device, a pipe.
    case notRegular
    /// A system call failed, with its error number.
    case system(operation: String, errno: Int32)
}

/// Why there was no connection, or none that lasted.
public enum NetworkFailure: String, Codable, Equatable, Sendable {
    /// The name has no address; no connection; too slow to connect; no bytes for too long; the connection broke.
    case nameResolution, connect, timedOut, stalled, connectionLost
    /// The time that the user gave the download is over.
    case timeLimit
    /// The address of this machine that the connection came from is gone, or the machine has slept.
    case networkChanged
}

/// What the transport said: libcurl's code and its message, and the system's error number if there was one.
public struct TransportDiagnosis: Codable, Equatable, Sendable {
    /// The code of libcurl; 0 when libcurl was content.
    public let code: Int
    /// The message of libcurl, or of its TLS library.
    public let message: String
    /// The error number of the system; 0 for none.
    public let errno: Int32

    package init(code: Int, message: String, errno: Int32 = 0) {
        self.code = code
        self.message = message
        self.errno = errno
    }

    /// Such words begin so; certificates are spoken of by the TLS library.
    var isAboutHostKey: Bool { message.hasPrefix("SSH: ") }
}

/// How a server does not keep to its protocol.
public enum ProtocolFailure: Codable, Equatable, Sendable {
    /// A redirect that the policy does not follow; with where it led.
    case redirectRefused(String)
    /// More redirects than the policy follows.
    case tooManyRedirects(Int)
    /// A redirect that names no address.
    case redirectWithoutLocation
    /// A range was asked for and the answer holds another one.
    case wrongRange(String)
    /// An answer that cannot be read; with what is wrong.
    case malformedReply(String)
    /// A Metalink document that cannot be used: which one, and why.
    case badMetalink(String)
}

/// Why what the server sends is not the file that is wanted.
public enum VerificationFailure: Codable, Equatable, Sendable {
    /// The file does not have the digest that was asked for.
    case checksum(expected: Checksum, actual: String)
    /// The file does not have the size that was asked for or announced.
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

/// Why a session or its store cannot be used.
public enum SessionFailure: Codable, Equatable, Sendable {
    /// The store cannot be opened.
    case storeUnreadable(path: String, message: String)
    /// Another live session runs it.
    case ownedElsewhere(DownloadID, session: String)
    /// A live session has this identifier.
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
    /// Neither `HOME` nor `XDG_STATE_HOME` names a folder.
    case noHome
    /// The session has ended, or is about to.
    case shuttingDown
    /// It is to be found by this identifier, which is no file name.
    case unusableIdentifier(String)
}
