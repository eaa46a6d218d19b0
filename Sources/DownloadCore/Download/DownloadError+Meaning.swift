import Foundation

/// A row of the tables below: what dlm says and does about the reason of an error.
package struct ErrorMeaning {
    /// The stable word for the reason in `--json`. It is written out as a string, so that renaming a case does not
    /// change this public interface.
    let word: String
    /// The failure and its reason, in one line.
    let text: String
    /// The exit status of aria2 for such a failure (EXIT STATUS in its manual), which aria2's RPC also reports.
    package var aria2 = 1
    /// The HTTP status of an answer of the control API with the error.
    package var controlStatus = 500
    /// Whether another attempt may succeed without any action of the user.
    var isTransient = false
    /// Whether the same command may succeed later, or on another machine, without any change by the user. A transient
    /// failure counts as such a failure, whatever this value is.
    var mayPass = false
    /// Whether another source may succeed after this error.
    var isOfSource = false
    /// Whether all bytes have come, but do not match a digest.
    var isMismatch = false
    var curlCode: Int?
    var httpStatus: Int?
    var systemErrno: Int32?
}

extension DownloadError: CustomStringConvertible {
    /// The failure and its reason, in one line. Code that prints the text must escape its control characters.
    public var description: String { meaning.text }

    /// The stable word for the case in `--json`, the exit status, and the meaning of the reason. The exit statuses 1
    /// to 8 have the same meaning as for wget.
    private var row: (kind: String, exitStatus: Int32, meaning: ErrorMeaning) {
        switch self {
        case .requestInvalid(let failure): ("request", 2, failure.meaning)
        case .fileFailed(let failure, let path): ("file", 3, failure.meaning(path + ": "))
        case .networkFailed(let failure, let diagnosis): ("network", 4, failure.meaning(diagnosis))
        case .trustFailed(let diagnosis): ("tls", 5, Self.untrusted(diagnosis))
        case .authenticationFailed(let status, let hint): ("authentication", 6, Self.refusedLogin(status, hint))
        case .protocolViolated(let failure): ("protocol", 7, failure.meaning)
        case .serverRefused(let status, let phrase): ("server", 8, Self.refusal(status, phrase))
        case .verificationFailed(let failure): ("verification", 9, failure.meaning)
        case .noSuchDownload(let id):
            ("noSuchDownload", 10, ErrorMeaning(word: "unknownID", text: "no download \(id)", controlStatus: 404))
        case .cancelled: ("cancelled", 11, ErrorMeaning(word: "cancelled", text: "cancelled", aria2: 31, mayPass: true))
        case .sessionUnavailable(let failure): ("session", 12, failure.meaning)
        case .completedFile(let fate, let path):
            (
                "completedFile", 13,
                ErrorMeaning(word: fate.rawValue, text: "\(path): completed, but the \(fate.description)")
            )
        case .unexpected(let message):
            ("unexpected", 1, ErrorMeaning(word: "unexpected", text: message, mayPass: true))
        }
    }

    /// The stable word for the case in `--json`.
    package var kind: String { row.kind }
    package var reason: String { meaning.word }
    package var exitStatus: Int32 { row.exitStatus }
    /// The code of libcurl; nil if libcurl reported no error.
    package var curlCode: Int? { meaning.curlCode }
    /// The status code of the HTTP answer; nil if the status is not the reason for the error.
    public var httpStatus: Int? { meaning.httpStatus }
    /// The error number of the system; nil if there was none.
    public var systemErrno: Int32? { meaning.systemErrno }
    package var meaning: ErrorMeaning { row.meaning }
    /// Whether another attempt may succeed without any action of the user.
    public var isTransient: Bool { meaning.isTransient }
    /// Whether the same command may succeed later, or on another machine, without any change by the user.
    package var isWorthAnotherRun: Bool {
        let meaning = meaning
        return meaning.isTransient || meaning.mayPass
    }

    /// The transient statuses: the statuses for which curl's `--retry` tries again, 425 (RFC 8470), and the statuses
    /// 520 to 524 from gateways of content delivery networks.
    static let transientStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]

    private static func refusal(_ status: Int, _ phrase: String) -> ErrorMeaning {
        let numbered = phrase.isEmpty ? "status \(status)" : "\(status) \(phrase)"
        let aria2 = [404: 3, 410: 3, 429: 29, 503: 29][status] ?? 22
        return ErrorMeaning(
            word: status == 0 ? "refused" : "status\(status)", text: status == 0 ? phrase : numbered, aria2: aria2,
            isTransient: transientStatuses.contains(status), isOfSource: true,
            httpStatus: status == 0 ? nil : status)
    }

    private static func untrusted(_ diagnosis: TransportDiagnosis) -> ErrorMeaning {
        let (word, protocolName) = diagnosis.isAboutHostKey == true ? ("hostKey", "SSH") : ("certificate", "TLS")
        return ErrorMeaning(
            word: word, text: "\(protocolName): \(diagnosis.message)", aria2: 6, isOfSource: true,
            curlCode: diagnosis.code == 0 ? nil : diagnosis.code)
    }

    /// Returns the meaning of a refused login.
    /// - Parameter status: The status of HTTP or FTP, or 0 if there is none, as with SSH.
    private static func refusedLogin(_ status: Int, _ hint: String?) -> ErrorMeaning {
        let names = [407: "407 Proxy Authentication Required", 401: "401 Unauthorized", 0: "login refused"]
        let httpStatus = [401, 407].contains(status) ? status : nil
        return ErrorMeaning(
            word: httpStatus.map { "status\($0)" } ?? "login",
            text: hint.map { "login refused; \($0)" } ?? names[status] ?? "\(status) login refused", aria2: 24,
            isOfSource: true, httpStatus: httpStatus)
    }
}

extension RequestFailure: CustomStringConvertible {
    public var description: String { meaning.text }

    fileprivate var meaning: ErrorMeaning {
        func row(_ word: String, _ text: String) -> ErrorMeaning {
            ErrorMeaning(word: word, text: text, aria2: 28, controlStatus: 400)
        }
        func row(_ word: String, _ url: String, _ what: String) -> ErrorMeaning {
            row(word, "\(SourceURL.hidingUserInformation(url)): \(what)")
        }
        return switch self {
        case .malformedURL(let url): row("malformedURL", url, "malformed URL")
        case .missingScheme(let url): row("missingScheme", url, Self.remedy(url))
        case .unsupportedScheme(let url):
            row("unsupportedScheme", url, "unsupported scheme; \(Self.listed(SourceScheme.names)) work")
        case .missingProtocol(let scheme):
            row("unsupportedScheme", "libcurl on this machine does not support \(scheme)")
        case .folder(let url): row("folder", url, "names a folder; give the URL of a file")
        case .notForScheme(let url, let what): row("notForScheme", url, what)
        case .bodyNotForScheme(let url): row("notForScheme", url, "only http and https have request bodies")
        case .methodNotForScheme(let url): row("notForScheme", url, "only http and https have request methods")
        case .missingOption:
            row("notForScheme", "libcurl on this machine does not support an option of this download")
        case .missingSecrets(let names):
            row("missingSecrets", "needs \(names.joined(separator: ", ")) again: secrets are not stored")
        case .schemeNotAllowed(let url, let only): row("schemeNotAllowed", "\(url): only \(only) URLs are allowed")
        case .unusableSecret(let why): row("unusableSecret", why)
        case .unusableValidation(let text): row("unusableValidation", "\(text): not a media type or a status code")
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
    public var description: String { meaning("").text }

    /// Returns the meaning of the failure. Each row has the word, the exit status of aria2, and the text.
    /// - Parameter subject: The beginning of the text, which names the file.
    fileprivate func meaning(_ subject: String) -> ErrorMeaning {
        func row(_ word: String, _ aria2: Int, _ text: String, mayPass: Bool = false) -> ErrorMeaning {
            ErrorMeaning(word: word, text: subject + text, aria2: aria2, mayPass: mayPass)
        }
        return switch self {
        case .exists: row("exists", 13, "exists already")
        case .notReplaceable:
            row("exists", 13, "exists already and is not a regular file, so it is not replaced; move it away")
        case .partialExists:
            row(
                "partialExists", 13,
                "exists already and does not belong to this download; finish its own download, or move it away")
        case .locked: row("locked", 11, "is being written by another process", mayPass: true)
        case .replaced:
            row("replaced", 15, "is not the file that this download wrote; move it away, or remove the download")
        case .altered:
            row(
                "altered", 15,
                "was changed by another program; only a checksum can prove what it holds now; move it away to start "
                    + "over")
        case .truncated:
            // The bytes that were cut off are fetched again.
            ErrorMeaning(
                word: "truncated", text: subject + "was cut short by another program", aria2: 15, isTransient: true)
        case .partialMissing:
            row(
                "partialMissing", 15,
                "is missing, with its folder or file system; mount the file system, or create the folder again",
                mayPass: true)
        case .deleted: row("deleted", 15, "was deleted during the download", mayPass: true)
        case .folderMissing: row("folderMissing", 18, "no such folder", mayPass: true)
        case .folderMoved:
            row("folderMoved", 18, "the folder was moved or replaced during the download; move it back", mayPass: true)
        case .permissionDenied: row("permissionDenied", 16, "permission denied")
        case .readOnly: row("readOnlyFileSystem", 16, "read-only file system")
        case .noSpace(let needed):
            row(
                "noSpace", 9,
                "no space left on the device" + (needed.map { " (\($0) more bytes are needed)" } ?? ""), mayPass: true)
        case .nameUnusable:
            row("nameUnusable", 16, "cannot be used as a file name: the name or its path is too long")
        case .nameOutside:
            row(
                "nameOutside", 16,
                "not allowed as a file name in a Metalink document; give a relative path without .. and hidden parts")
        case .notRegular: row("notRegular", 18, "is not a regular file")
        case .system(let operation, let code):
            // Other downloads use the descriptors, and will release them.
            ErrorMeaning(
                word: "system", text: "\(subject)\(operation): \(Self.text(code))", aria2: 17,
                isTransient: [EMFILE, ENFILE].contains(code), mayPass: true, systemErrno: code)
        }
    }

    private static func text(_ code: Int32) -> String {
        switch code {
        case EFBIG: "too large for the file size limit (ulimit -f) or for the file system"
        case EPIPE: "nothing reads it any more"
        default: String(cString: strerror(code))
        }
    }
}

extension NetworkFailure {
    fileprivate func meaning(_ diagnosis: TransportDiagnosis) -> ErrorMeaning {
        let (lead, aria2) =
            switch self {
            case .nameResolution: ("name resolution failed", 19)
            case .connect: ("cannot connect", 6)
            case .timedOut: ("timed out", 2)
            case .stalled: ("stalled", 2)
            case .connectionLost: ("connection lost", 6)
            case .timeLimit: ("not complete in time", 2)
            case .networkChanged: ("the network changed", 6)
            }
        return ErrorMeaning(
            word: rawValue, text: diagnosis.message.isEmpty ? lead : "\(lead): \(diagnosis.message)", aria2: aria2,
            isTransient: self != .timeLimit, mayPass: true, isOfSource: self != .timeLimit,
            curlCode: diagnosis.code == 0 ? nil : diagnosis.code,
            systemErrno: diagnosis.errno == 0 ? nil : diagnosis.errno)
    }
}

extension ProtocolFailure: CustomStringConvertible {
    public var description: String { meaning.text }

    fileprivate var meaning: ErrorMeaning {
        func row(_ word: String, _ text: String, aria2: Int = 22, isTransient: Bool = false) -> ErrorMeaning {
            ErrorMeaning(word: word, text: text, aria2: aria2, isTransient: isTransient, isOfSource: true)
        }
        return switch self {
        case .redirectRefused(let what): row("redirectRefused", "redirect refused: \(what)", aria2: 23)
        case .tooManyRedirects(let limit): row("tooManyRedirects", "more than \(limit) redirects", aria2: 23)
        case .redirectWithoutLocation: row("redirectWithoutLocation", "redirect without a location")
        case .wrongRange(let what): row("wrongRange", "wrong range in the answer: \(what)", isTransient: true)
        case .malformedReply(let what): row("malformedReply", "malformed reply: \(what)", isTransient: true)
        case .badMetalink(let what): row("metalink", what, aria2: 20)
        }
    }
}

extension VerificationFailure: CustomStringConvertible {
    public var description: String { meaning.text }

    fileprivate var meaning: ErrorMeaning {
        func row(
            _ word: String, _ text: String, isTransient: Bool = false, isOfSource: Bool = true, isMismatch: Bool = false
        ) -> ErrorMeaning {
            ErrorMeaning(
                word: word, text: text, aria2: 32, isTransient: isTransient, isOfSource: isOfSource,
                isMismatch: isMismatch)
        }
        return switch self {
        case .checksum(let expected, let actual):
            row("checksum", "checksum does not match: expected \(expected), got \(actual)", isMismatch: true)
        case .serverDigest(let expected, let actual):
            row(
                "serverDigest",
                "does not match the digest that the server sent\(expected.field.map { " in \($0)" } ?? ""): expected "
                    + "\(expected), got \(actual); the next attempt fetches the file again", isMismatch: true)
        case .endUnproved:
            row(
                "unverifiable",
                "the server sent no size and closed the connection, so nothing proves that the file is complete")
        case .unverifiable(let why): row("unverifiable", why)
        case .olderList(let document, let signed, let seen):
            row(
                "olderList",
                "\(document): was signed at \(signed.ISO8601Format()), before the list that was seen in this folder, "
                    + "of \(seen.ISO8601Format()), so the file does not get its name; its bytes are kept")
        case .otherSigner(let document, let key, let pinned, let since):
            row(
                "otherSigner",
                "\(document): was signed by the key \(key), but since \(since.ISO8601Format()) only the key \(pinned) "
                    + "counts in this folder, so the file does not get its name; its bytes are kept")
        case .size(let expected, let actual):
            row("size", "size does not match: expected \(expected) bytes, got \(actual)")
        case .unexpectedType(let was, let now):
            row("unexpectedType", "the server now sends \(now) instead of \(was); the fetched bytes are kept")
        case .unwantedType(let wanted, let type): row("unexpectedType", Self.unwanted(type, wanted))
        case .unwantedStatus(let wanted, let status):
            row("unexpectedStatus", "the server answers with \(status), expected \(wanted)")
        case .tooLarge(let limit, let size?):
            row("tooLarge", "has \(size) bytes, more than the limit of \(limit); nothing was fetched")
        case .tooLarge(let limit, nil):
            row("tooLarge", "larger than the limit of \(limit) bytes; the server sent no size")
        case .notItsBeginning(let path, let why):
            row(
                "otherFile",
                "\(path): not the beginning of the server's file: \(why); nothing was changed; move it away, or "
                    + "overwrite it", isOfSource: false)
        case .streamBroken(let why):
            row(
                "changed", "the bytes already written cannot be continued; download the file anew: \(why)",
                isOfSource: false)
        case .changed(let what): row("changed", "the file changed on the server: \(what)", isTransient: true)
        case .wrongPieces(let count):
            row(
                "checksum", "\(count) bytes are in pieces with wrong digests; the other pieces are kept",
                isMismatch: true)
        case .otherMirror(let what): row("otherFile", "the mirror has a different file: \(what)")
        case .otherFile(let what):
            row(
                "otherFile",
                "the new URL has a different file: \(what); the fetched bytes are kept; give the right URL")
        }
    }

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
    package var isEnd: Bool { if case .notRunning = self { true } else { self == .shuttingDown } }

    public var description: String { meaning.text }

    fileprivate var meaning: ErrorMeaning {
        func row(_ word: String, _ text: String, controlStatus: Int = 503) -> ErrorMeaning {
            ErrorMeaning(word: word, text: text, controlStatus: controlStatus, mayPass: true)
        }
        return switch self {
        case .storeUnreadable(let path, let message):
            row("storeUnreadable", "cannot open the store \(path): \(message)")
        case .ownedElsewhere(let id, let session):
            row(
                "ownedElsewhere", "download \(id) is being run by session \(session); stop it there first",
                controlStatus: 409)
        case .alreadyRunning(let session):
            row("alreadyRunning", "session \(session) is running already", controlStatus: 409)
        case .notRunning(let session): row("notRunning", "session \(session) is not running")
        case .notAnswering(let session, let message):
            row(
                "notAnswering",
                "session \(session) does not answer\(message.isEmpty ? "" : ": \(message)"); is its process stopped?",
                controlStatus: 504)
        case .incompatible(let session, let version):
            row(
                "incompatible",
                "session \(session) uses version \(version) of the control API, and this process uses version "
                    + "\(SessionStatus.apiVersion); end that session and start it again", controlStatus: 400)
        case .badExchange(let session, let message):
            row("badExchange", "session \(session): \(message)", controlStatus: 400)
        case .startFailed(let message): row("startFailed", "the background session did not start: \(message)")
        case .noHome: row("noHome", "no home folder: set HOME or XDG_STATE_HOME")
        case .shuttingDown: row("shuttingDown", "the session is ending")
        case .unusableIdentifier(let name):
            row("unusableIdentifier", "\(name): cannot be used as the identifier of a session")
        }
    }
}
