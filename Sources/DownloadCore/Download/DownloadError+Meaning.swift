import Foundation

extension DownloadError {
    /// Whether another attempt may succeed without any action of the user.
    public var isTransient: Bool {
        switch self {
        case .networkFailed(let failure, _): failure != .timeLimit
        case .serverRefused(let status, _): Self.transientStatuses.contains(status)
        case .protocolViolated(.malformedReply), .protocolViolated(.wrongRange): true
        case .verificationFailed(.changed): true
        // The bytes that were cut off are fetched again.
        case .fileFailed(.truncated, _): true
        // Other downloads use the descriptors, and will release them.
        case .fileFailed(.system(_, let code), _): code == EMFILE || code == ENFILE
        case .requestInvalid, .fileFailed, .trustFailed, .authenticationFailed, .protocolViolated,
            .verificationFailed, .noSuchDownload, .cancelled, .sessionUnavailable, .completedFile, .unexpected:
            false
        }
    }

    /// The transient statuses: the statuses for which curl's `--retry` tries again, 425 (RFC 8470), and the statuses
    /// 520 to 524 from gateways of content delivery networks.
    static let transientStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]

    /// The exit status for the error. The statuses 1 to 8 have the same meaning as for wget.
    package var exitStatus: Int32 {
        switch self {
        case .requestInvalid: 2
        case .fileFailed: 3
        case .networkFailed: 4
        case .trustFailed: 5
        case .authenticationFailed: 6
        case .protocolViolated: 7
        case .serverRefused: 8
        case .verificationFailed: 9
        case .noSuchDownload: 10
        case .cancelled: 11
        case .sessionUnavailable: 12
        case .completedFile: 13
        case .unexpected: 1
        }
    }

    /// The stable word for the case in `--json`.
    package var kind: String {
        switch self {
        case .requestInvalid: "request"
        case .fileFailed: "file"
        case .networkFailed: "network"
        case .trustFailed: "tls"
        case .authenticationFailed: "authentication"
        case .protocolViolated: "protocol"
        case .serverRefused: "server"
        case .verificationFailed: "verification"
        case .noSuchDownload: "noSuchDownload"
        case .cancelled: "cancelled"
        case .sessionUnavailable: "session"
        case .completedFile: "completedFile"
        case .unexpected: "unexpected"
        }
    }

    /// The stable word for the reason in `--json`.
    package var reason: String {
        switch self {
        case .requestInvalid(let failure): failure.word
        case .fileFailed(let failure, _): failure.word
        case .networkFailed(let failure, _): failure.rawValue
        case .trustFailed(let diagnosis): diagnosis.isAboutHostKey ? "hostKey" : "certificate"
        case .authenticationFailed(let status, _): [401, 407].contains(status) ? "status\(status)" : "login"
        case .protocolViolated(let failure): failure.word
        case .serverRefused(0, _): "refused"
        case .serverRefused(let status, _): "status\(status)"
        case .verificationFailed(let failure): failure.word
        case .noSuchDownload: "unknownID"
        case .cancelled: "cancelled"
        case .sessionUnavailable(let failure): failure.word
        case .completedFile(let fate, _): fate.rawValue
        case .unexpected: "unexpected"
        }
    }

    /// The code of libcurl; nil if libcurl reported no error.
    package var curlCode: Int? {
        switch self {
        case .networkFailed(_, let diagnosis) where diagnosis.code != 0: diagnosis.code
        case .trustFailed(let diagnosis) where diagnosis.code != 0: diagnosis.code
        default: nil
        }
    }

    /// The status code of the HTTP answer; nil if the status is not the reason for the error.
    public var httpStatus: Int? {
        switch self {
        case .authenticationFailed(let status, _): [401, 407].contains(status) ? status : nil
        case .serverRefused(let status, _): status == 0 ? nil : status
        default: nil
        }
    }

    /// The error number of the system; nil if there was none.
    public var systemErrno: Int32? {
        switch self {
        case .networkFailed(_, let diagnosis) where diagnosis.errno != 0: diagnosis.errno
        case .fileFailed(.system(_, let code), _): code
        default: nil
        }
    }

    /// Whether another source may succeed after this error.
    var isOfSource: Bool {
        switch self {
        case .networkFailed(let failure, _): failure != .timeLimit
        case .trustFailed, .authenticationFailed, .protocolViolated, .serverRefused: true
        case .verificationFailed(.notItsBeginning), .verificationFailed(.streamBroken): false
        case .verificationFailed: true
        case .requestInvalid, .fileFailed, .noSuchDownload, .cancelled, .sessionUnavailable, .completedFile,
            .unexpected:
            false
        }
    }

    /// Whether all bytes have come, but do not match a digest.
    var isMismatch: Bool {
        switch self {
        case .verificationFailed(.checksum), .verificationFailed(.serverDigest), .verificationFailed(.wrongPieces): true
        default: false
        }
    }
}

extension DownloadError {
    /// The words with which error texts name the command that prints new links (``Hooks/urlCommand``).
    package static let newLinkCommand = "the command for a new link"

    /// Returns the error for a download whose time limit has passed.
    /// - Parameter last: The error of the last attempt, if no time is left for another attempt.
    package static func overdue(_ request: DownloadRequest, last: DownloadError?) -> DownloadError {
        let limit = (request.timeouts.total ?? 0).formatted(.number.grouping(.never))
        let why = last.map { "the limit of \(limit) s leaves no time for another attempt after: \($0)" }
        return .networkFailed(
            .timeLimit, TransportDiagnosis(code: 0, message: why ?? "the limit of \(limit) s has passed"))
    }
}

extension DownloadError: CustomStringConvertible {
    /// The failure and its reason, in one line. Code that prints the text must escape its control characters.
    public var description: String {
        switch self {
        case .requestInvalid(let failure): failure.description
        case .fileFailed(let failure, let path): "\(path): \(failure.description)"
        case .networkFailed(let failure, let diagnosis): failure.describe(diagnosis)
        case .trustFailed(let diagnosis):
            diagnosis.isAboutHostKey ? diagnosis.message : "TLS: \(diagnosis.message)"
        case .authenticationFailed(_, let hint?): "login refused; \(hint)"
        case .authenticationFailed(let status, nil): Self.refusedLogin(status)
        case .protocolViolated(let failure): failure.description
        case .serverRefused(0, let phrase): phrase
        case .serverRefused(let status, let phrase): phrase.isEmpty ? "status \(status)" : "\(status) \(phrase)"
        case .verificationFailed(let failure): failure.description
        case .noSuchDownload(let id): "no download \(id)"
        case .cancelled: "cancelled"
        case .sessionUnavailable(let failure): failure.description
        case .completedFile(let fate, let path): "\(path): completed, but the \(fate.description)"
        case .unexpected(let message): message
        }
    }
}

extension DownloadError {
    /// Returns the text for a refused login. The status is that of HTTP or FTP, or 0 if there is none, as with SSH.
    private static func refusedLogin(_ status: Int) -> String {
        switch status {
        case 407: "407 Proxy Authentication Required"
        case 401: "401 Unauthorized"
        case 0: "login refused"
        default: "\(status) login refused"
        }
    }
}

extension RequestFailure {
    /// The text for a request with a body whose URL is not an http or https URL.
    package static let bodyIsForHTTP = "only http and https have request bodies"
    /// The text for an option that libcurl on this machine was built without.
    package static let beyondLibcurl = "libcurl on this machine does not support an option of this download"
    package static let methodIsForHTTP = "only http and https have request methods"
}

extension RequestFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformedURL(let text): "\(SourceURL.hidingUserInformation(text)): malformed URL"
        case .missingScheme(let text):
            "\(SourceURL.hidingUserInformation(text)): \(Self.remedy(text))"
        case .unsupportedScheme(let text):
            "\(SourceURL.hidingUserInformation(text)): unsupported scheme; \(Self.listed(SourceScheme.names)) work"
        case .missingProtocol(let text, let scheme):
            "\(SourceURL.hidingUserInformation(text)): libcurl on this machine does not support \(scheme)"
        case .folder(let text):
            "\(SourceURL.hidingUserInformation(text)): names a folder; give the URL of a file"
        case .notForScheme(let text, let what):
            "\(SourceURL.hidingUserInformation(text)): \(what)"
        case .missingSecrets(let names):
            "needs \(names.joined(separator: ", ")) again: secrets are not stored"
        case .schemeNotAllowed(let url, let only): "\(url): only \(only) URLs are allowed"
        case .unusableSecret(let why): why
        case .unusableValidation(let text): "\(text): not a media type or a status code"
        }
    }

    private static func listed(_ names: [String]) -> String {
        names.dropLast().joined(separator: ", ") + (names.last.map { " and \($0)" } ?? "")
    }

    private static func remedy(_ text: String) -> String {
        if text.lowercased().hasPrefix("magnet:") {
            return "a magnet link is for BitTorrent, which is not supported"
        }
        if text.contains(where: \.isWhitespace) || !text.contains(where: { ".:/".contains($0) }) {
            return "not a URL; give one such as https://example.org/file"
        }
        if text.hasPrefix("/"), !text.hasPrefix("//") { return "not a URL; did you mean file://\(text)?" }
        return "not a URL; did you mean \(completed(text))?"
    }

    /// Returns the URL that was probably meant by `example.org/x` or `http:/example.org/x`.
    private static func completed(_ text: String) -> String {
        let scheme = ["https:", "http:"].first { text.lowercased().hasPrefix($0) } ?? ""
        let rest = SourceURL.hidingUserInformation(String(text.dropFirst(scheme.count).drop { $0 == "/" }))
        return (scheme.isEmpty ? "https:" : scheme) + "//" + rest
    }
}

extension FileFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .exists: "exists already"
        case .notReplaceable: "exists already and is not a regular file, so it is not replaced; move it away"
        case .partialExists:
            "exists already and does not belong to this download; finish its own download, or move it away"
        case .locked: "is being written by another process"
        case .replaced: "is not the file that this download wrote; move it away, or remove the download"
        case .altered:
            "was changed by another program; only a checksum can prove what it holds now; move it away to start over"
        case .truncated: "was cut short by another program"
        case .partialMissing:
            "is missing, with its folder or file system; mount the file system, or create the folder again"
        case .deleted: "was deleted during the download"
        case .folderMissing: "no such folder"
        case .folderMoved: "the folder was moved or replaced during the download; move it back"
        case .permissionDenied: "permission denied"
        case .readOnly: "read-only file system"
        case .noSpace(let needed):
            needed.map { "no space left on the device (\($0) more bytes are needed)" } ?? "no space left on the device"
        case .nameUnusable: "cannot be used as a file name: the name or its path is too long"
        case .nameOutside:
            "not allowed as a file name in a Metalink document; give a relative path without .. and hidden parts"
        case .notRegular: "is not a regular file"
        case .system(let operation, EFBIG):
            "\(operation): too large for the file size limit (ulimit -f) or for the file system"
        case .system(let operation, EPIPE): "\(operation): nothing reads it any more"
        case .system(let operation, let code): "\(operation): \(String(cString: strerror(code)))"
        }
    }
}

extension NetworkFailure {
    func describe(_ diagnosis: TransportDiagnosis) -> String {
        let lead =
            switch self {
            case .nameResolution: "name resolution failed"
            case .connect: "cannot connect"
            case .timedOut: "timed out"
            case .stalled: "stalled"
            case .connectionLost: "connection lost"
            case .timeLimit: "not complete in time"
            case .networkChanged: "the network changed"
            }
        return diagnosis.message.isEmpty ? lead : "\(lead): \(diagnosis.message)"
    }
}

extension ProtocolFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .redirectRefused(let what): "redirect refused: \(what)"
        case .tooManyRedirects(let limit): "more than \(limit) redirects"
        case .redirectWithoutLocation: "redirect without a location"
        case .wrongRange(let what): "wrong range in the answer: \(what)"
        case .malformedReply(let what): "malformed reply: \(what)"
        case .badMetalink(let what): what
        }
    }
}

extension VerificationFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .checksum(let expected, let actual):
            "checksum does not match: expected \(expected), got \(actual)"
        case .serverDigest(let expected, let actual):
            "does not match the digest that the server sent: expected \(expected), got \(actual); the next attempt "
                + "fetches the file again"
        case .endUnproved:
            "the server sent no size and closed the connection, so nothing proves that the file is complete"
        case .unverifiable(let why): why
        case .size(let expected, let actual): "size does not match: expected \(expected) bytes, got \(actual)"
        case .unexpectedType(let was, let now):
            "the server now sends \(now) instead of \(was); the fetched bytes are kept"
        case .unwantedType(let wanted, let type): Self.unwanted(type, wanted)
        case .unwantedStatus(let wanted, let status): "the server answers with \(status), expected \(wanted)"
        case .tooLarge(let limit, let size?):
            "has \(size) bytes, more than the limit of \(limit); nothing was fetched"
        case .tooLarge(let limit, nil):
            "larger than the limit of \(limit) bytes; the server sent no size"
        case .notItsBeginning(let path, let why):
            "\(path): not the beginning of the server's file: \(why); nothing was changed; move it away, or "
                + "overwrite it"
        case .streamBroken(let why): "the bytes already written cannot be continued; download the file anew: \(why)"
        case .changed(let what): "the file changed on the server: \(what)"
        case .wrongPieces(let count): "\(count) bytes are in pieces with wrong digests; the other pieces are kept"
        case .otherMirror(let what): "the mirror has a different file: \(what)"
        case .otherFile(let what):
            "the new URL has a different file: \(what); the fetched bytes are kept; give the right URL"
        }
    }
}

extension VerificationFailure {
    /// Returns the text for an unwanted content type. Usually the server has sent a page with status 200 instead of the
    /// file.
    private static func unwanted(_ type: String?, _ wanted: String) -> String {
        guard let type else { return "the server sends no type, expected \(wanted)" }
        let isPage = ["text/html", "application/xhtml+xml"].contains(type)
        let guess = isPage ? "; probably a login or error page, look at it in a browser" : ""
        return "the server sends \(type), expected \(wanted)\(guess)"
    }
}

extension SessionFailure: CustomStringConvertible {
    /// Whether the failure means that the session has ended, or is about to end.
    package var isEnd: Bool {
        switch self {
        case .notRunning, .shuttingDown: true
        default: false
        }
    }

    public var description: String {
        switch self {
        case .storeUnreadable(let path, let message):
            "cannot open the store \(path): \(message)"
        case .ownedElsewhere(let id, let session):
            "download \(id) is being run by session \(session); stop it there first"
        case .alreadyRunning(let session): "session \(session) is running already"
        case .notRunning(let session): "session \(session) is not running"
        case .notAnswering(let session, let message):
            "session \(session) does not answer\(message.isEmpty ? "" : ": \(message)"); is its process stopped?"
        case .incompatible(let session, let version):
            "session \(session) uses version \(version) of the control API, and this process uses version "
                + "\(SessionStatus.apiVersion); end that session and start it again"
        case .badExchange(let session, let message): "session \(session): \(message)"
        case .startFailed(let message): "the background session did not start: \(message)"
        case .noHome: "no home folder: set HOME or XDG_STATE_HOME"
        case .shuttingDown: "the session is ending"
        case .unusableIdentifier(let name): "\(name): cannot be used as the identifier of a session"
        }
    }
}
