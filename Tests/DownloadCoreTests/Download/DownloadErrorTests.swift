import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

/// An error, and everything that scripts can see of it.
struct ErrorMeaning: Sendable, CustomTestStringConvertible {
    let error: DownloadError
    let exitStatus: Int32
    let kind: String
    let reason: String
    let isTransient: Bool
    let curlCode: Int?
    let httpStatus: Int?
    let systemErrno: Int32?
    let description: String

    init(
        _ error: DownloadError, _ exitStatus: Int32, _ kind: String, _ reason: String, transient: Bool = false,
        curl: Int? = nil, http: Int? = nil, errno: Int32? = nil, _ description: String
    ) {
        self.error = error
        self.exitStatus = exitStatus
        self.kind = kind
        self.reason = reason
        isTransient = transient
        curlCode = curl
        httpStatus = http
        systemErrno = errno
        self.description = description
    }

    var testDescription: String { "\(kind) \(reason)" }
}

@Suite(.inTurn) struct DownloadErrorTests {
    static let none = TransportDiagnosis(code: 0, message: "")
    static let lost = TransportDiagnosis(code: 56, message: "reset by peer", errno: 104)
    static let sum = Checksum(algorithm: .md5, digest: "00")

    @Test(
        "Every error has its status, words, numbers and a sentence that names no command or option",
        arguments: meanings)
    func meaning(_ row: ErrorMeaning) throws {
        #expect(row.error.exitStatus == row.exitStatus)
        #expect(row.error.kind == row.kind)
        #expect(row.error.reason == row.reason)
        #expect(row.error.isTransient == row.isTransient)
        #expect(row.error.curlCode == row.curlCode)
        #expect(row.error.httpStatus == row.httpStatus)
        #expect(row.error.systemErrno == row.systemErrno)
        #expect(row.error.description == row.description)
        // Options and commands belong to the program (`ErrorText`).
        #expect(!row.description.contains("--") && !row.description.contains("dlm "))
        #expect(!row.description.contains(/(^|[ (])-[A-Za-z]/))
        #expect(try JSONDecoder().decode(DownloadError.self, from: JSONEncoder().encode(row.error)) == row.error)
    }

    @Test("Every reason has a row in the table")
    func words() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/DownloadCore/Download/DownloadError+Meaning.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let words = source.matches(of: /(?:row\(|word:)\s*"([A-Za-z]+)"/).map { String($0.output.1) }
        #expect(words.count > 45)
        #expect(Set(words).subtracting(Self.meanings.map(\.reason)) == [])
    }

    static let meanings = requests + files + network + servers + verification + sessions

    static let requests = [
        ErrorMeaning(.requestInvalid(.malformedURL("h:x")), 2, "request", "malformedURL", "h:x: malformed URL"),
        ErrorMeaning(
            .requestInvalid(.missingScheme("h/(a)")), 2, "request", "missingScheme",
            "h/(a): not a URL; did you mean https://h/(a)?"),
        ErrorMeaning(
            .requestInvalid(.missingScheme("//h/a")), 2, "request", "missingScheme",
            "//h/a: not a URL; did you mean https://h/a?"),
        ErrorMeaning(
            .requestInvalid(.missingScheme("http:/h/a")), 2, "request", "missingScheme",
            "http:/h/a: not a URL; did you mean http://h/a?"),
        ErrorMeaning(
            .requestInvalid(.unsupportedScheme("gopher://h/a")), 2, "request", "unsupportedScheme",
            "gopher://h/a: unsupported scheme; http, https, ftp, ftps, sftp, scp and file work"),
        ErrorMeaning(
            .requestInvalid(.folder("ftp://u:p@h/a/")), 2, "request", "folder",
            "ftp://***@h/a/: names a folder; give the URL of a file"),
        ErrorMeaning(
            .requestInvalid(.bodyNotForScheme("ftp://h/a")), 2, "request",
            "notForScheme", "ftp://h/a: only http and https have request bodies"),
        ErrorMeaning(
            .requestInvalid(.missingSecrets(["Cookie", "X-Key"])), 2, "request", "missingSecrets",
            "needs Cookie, X-Key again: secrets are not stored"),
        ErrorMeaning(
            .requestInvalid(.unusableValidation("zip")), 2, "request", "unusableValidation",
            "zip: not a media type or a status code"),
        ErrorMeaning(
            .requestInvalid(.schemeNotAllowed("http://h/a", only: "https")), 2, "request", "schemeNotAllowed",
            "http://h/a: only https URLs are allowed"),
        ErrorMeaning(
            .requestInvalid(.unusableSecret("/t: no token in it")), 2, "request", "unusableSecret",
            "/t: no token in it"),
    ]

    static let files = [
        ErrorMeaning(
            .completedFile(.gone, path: "/a"), 13, "completedFile", "gone", "/a: completed, but the file is gone"),
        ErrorMeaning(
            .completedFile(.changed, path: "/a"), 13, "completedFile", "changed",
            "/a: completed, but the file was changed"),
        ErrorMeaning(
            .fileFailed(.exists, path: "/a"), 3, "file", "exists",
            "/a: exists already"),
        ErrorMeaning(
            .fileFailed(.partialExists, path: "/a"), 3, "file", "partialExists",
            "/a: exists already and does not belong to this download; finish its own download, or move it away"),
        ErrorMeaning(
            .fileFailed(.locked, path: "/a"), 3, "file", "locked", "/a: is being written by another process"),
        ErrorMeaning(
            .fileFailed(.replaced, path: "/a"), 3, "file", "replaced",
            "/a: is not the file that this download wrote; move it away, or remove the download"),
        ErrorMeaning(
            .fileFailed(.altered, path: "/a"), 3, "file", "altered",
            "/a: was changed by another program; only a checksum can prove what it holds now; move it away to start over"
        ),
        ErrorMeaning(
            .fileFailed(.truncated, path: "/a"), 3, "file", "truncated", transient: true,
            "/a: was cut short by another program"),
        ErrorMeaning(
            .fileFailed(.partialMissing, path: "/a.part"), 3, "file", "partialMissing",
            "/a.part: is missing, with its folder or file system; mount the file system, or create the folder again"),
        ErrorMeaning(
            .fileFailed(.deleted, path: "/a.part"), 3, "file", "deleted",
            "/a.part: was deleted during the download"),
        ErrorMeaning(
            .fileFailed(.folderMoved, path: "/a"), 3, "file", "folderMoved",
            "/a: the folder was moved or replaced during the download; move it back"),
        ErrorMeaning(
            .fileFailed(.notReplaceable, path: "/a"), 3, "file", "exists",
            "/a: exists already and is not a regular file, so it is not replaced; move it away"),
        ErrorMeaning(
            .fileFailed(.nameOutside, path: "../a"), 3, "file", "nameOutside",
            "../a: not allowed as a file name in a Metalink document; give a relative path without .. and hidden parts"
        ),
        ErrorMeaning(.fileFailed(.folderMissing, path: "/a"), 3, "file", "folderMissing", "/a: no such folder"),
        ErrorMeaning(
            .fileFailed(.permissionDenied, path: "/a"), 3, "file", "permissionDenied", "/a: permission denied"),
        ErrorMeaning(.file(EROFS, "open", path: "/a"), 3, "file", "readOnlyFileSystem", "/a: read-only file system"),
        ErrorMeaning(
            .fileFailed(.noSpace(needed: nil), path: "/a"), 3, "file", "noSpace", "/a: no space left on the device"),
        ErrorMeaning(
            .fileFailed(.noSpace(needed: 7), path: "/a"), 3, "file", "noSpace",
            "/a: no space left on the device (7 more bytes are needed)"),
        ErrorMeaning(
            .fileFailed(.nameUnusable, path: "/a"), 3, "file", "nameUnusable",
            "/a: cannot be used as a file name: the name or its path is too long"),
        ErrorMeaning(.fileFailed(.notRegular, path: "/a"), 3, "file", "notRegular", "/a: is not a regular file"),
        ErrorMeaning(
            .fileFailed(.system(operation: "pwrite", errno: 5), path: "/a"), 3, "file", "system", errno: 5,
            "/a: pwrite: Input/output error"),
    ]

    static let network = [
        ErrorMeaning(
            .networkFailed(.nameResolution, TransportDiagnosis(code: 6, message: "no h")), 4, "network",
            "nameResolution", transient: true, curl: 6, "name resolution failed: no h"),
        ErrorMeaning(
            .networkFailed(.connect, TransportDiagnosis(code: 7, message: "", errno: 111)), 4, "network", "connect",
            transient: true, curl: 7, errno: 111, "cannot connect"),
        ErrorMeaning(
            .networkFailed(.timedOut, TransportDiagnosis(code: 28, message: "15 s")), 4, "network", "timedOut",
            transient: true, curl: 28, "timed out: 15 s"),
        // This stall was found by dlm's own timer, so there is no code of libcurl.
        ErrorMeaning(.networkFailed(.stalled, none), 4, "network", "stalled", transient: true, "stalled"),
        ErrorMeaning(
            .networkFailed(.connectionLost, lost), 4, "network", "connectionLost", transient: true, curl: 56,
            errno: 104, "connection lost: reset by peer"),
        ErrorMeaning(
            .trustFailed(TransportDiagnosis(code: 60, message: "self-signed")), 5, "tls", "certificate", curl: 60,
            "TLS: self-signed"),
        ErrorMeaning(.protocolViolated(.badMetalink("d: why")), 7, "protocol", "metalink", "d: why"),
        ErrorMeaning(
            .protocolViolated(.redirectRefused("from https to http")), 7, "protocol", "redirectRefused",
            "redirect refused: from https to http"),
        ErrorMeaning(
            .protocolViolated(.tooManyRedirects(20)), 7, "protocol", "tooManyRedirects", "more than 20 redirects"),
        ErrorMeaning(
            .protocolViolated(.redirectWithoutLocation), 7, "protocol", "redirectWithoutLocation",
            "redirect without a location"),
        ErrorMeaning(
            .protocolViolated(.wrongRange("0-1")), 7, "protocol", "wrongRange", transient: true,
            "wrong range in the answer: 0-1"),
        ErrorMeaning(
            .protocolViolated(.malformedReply("x")), 7, "protocol", "malformedReply", transient: true,
            "malformed reply: x"),
    ]

    static let servers =
        [
            ErrorMeaning(
                .authenticationFailed(status: 401), 6, "authentication", "status401", http: 401, "401 Unauthorized"),
            ErrorMeaning(
                .authenticationFailed(status: 407), 6, "authentication", "status407", http: 407,
                "407 Proxy Authentication Required"),
            ErrorMeaning(
                .serverRefused(status: 404, phrase: "Not Found"), 8, "server", "status404", http: 404, "404 Not Found"),
        ]
        + [400, 402, 403, 405, 406, 409, 410, 412, 413, 414, 416, 418, 451, 501, 505, 507, 508, 511].map {
            ErrorMeaning(
                .serverRefused(status: $0, phrase: ""), 8, "server", "status\($0)", http: $0, "status \($0)")
        }
        + [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524].map {
            ErrorMeaning(
                .serverRefused(status: $0, phrase: "Busy"), 8, "server", "status\($0)", transient: true, http: $0,
                "\($0) Busy")
        }

    static let verification = [
        ErrorMeaning(
            .verificationFailed(.unwantedType(wanted: "image/*", is: "text/html")), 9, "verification", "unexpectedType",
            "the server sends text/html, expected image/*; probably a login or error page, look at it in a browser"),
        ErrorMeaning(
            .verificationFailed(.unwantedType(wanted: "image/*", is: nil)), 9, "verification", "unexpectedType",
            "the server sends no type, expected image/*"),
        ErrorMeaning(
            .verificationFailed(.unwantedStatus(wanted: "203", is: "200 OK")), 9, "verification", "unexpectedStatus",
            "the server answers with 200 OK, expected 203"),
        ErrorMeaning(
            .verificationFailed(.tooLarge(limit: 7, size: 8)), 9, "verification", "tooLarge",
            "has 8 bytes, more than the limit of 7; nothing was fetched"),
        ErrorMeaning(
            .verificationFailed(.tooLarge(limit: 7, size: nil)), 9, "verification", "tooLarge",
            "larger than the limit of 7 bytes; the server sent no size"),
        ErrorMeaning(
            .verificationFailed(.notItsBeginning(path: "/a", why: "x")), 9, "verification", "otherFile",
            "/a: not the beginning of the server's file: x; nothing was changed; move it away, or overwrite it"),
        ErrorMeaning(
            .verificationFailed(.streamBroken("x")), 9, "verification", "changed",
            "the bytes already written cannot be continued; download the file anew: x"),
        ErrorMeaning(.networkFailed(.timeLimit, none), 4, "network", "timeLimit", "not complete in time"),
        ErrorMeaning(
            .verificationFailed(.checksum(expected: sum, actual: "ff")), 9, "verification", "checksum",
            "checksum does not match: expected md5:00, got ff"),
        ErrorMeaning(
            .verificationFailed(.size(expected: 2, actual: 1)), 9, "verification", "size",
            "size does not match: expected 2 bytes, got 1"),
        ErrorMeaning(
            .verificationFailed(.unexpectedType(was: "a/b", is: "text/html")), 9, "verification", "unexpectedType",
            "the server now sends text/html instead of a/b; the fetched bytes are kept"),
        ErrorMeaning(
            .verificationFailed(.changed("size")), 9, "verification", "changed", transient: true,
            "the file changed on the server: size"),
        ErrorMeaning(
            .verificationFailed(.wrongPieces(9)), 9, "verification", "checksum",
            "9 bytes are in pieces with wrong digests; the other pieces are kept"),
        ErrorMeaning(
            .verificationFailed(.otherMirror("why")), 9, "verification", "otherFile",
            "the mirror has a different file: why"
        ),
        ErrorMeaning(
            .verificationFailed(.otherFile("size")), 9, "verification", "otherFile",
            "the new URL has a different file: size; the fetched bytes are kept; give the right URL"),
        ErrorMeaning(
            .verificationFailed(
                .serverDigest(expected: Checksum(algorithm: .md5, digest: "00"), actual: "11")), 9, "verification",
            "serverDigest",
            "does not match the digest that the server sent: expected md5:00, got 11; the next attempt "
                + "fetches the file again"),
        ErrorMeaning(
            .verificationFailed(.endUnproved), 9, "verification", "unverifiable",
            "the server sent no size and closed the connection, so nothing proves that the file is complete"),
        ErrorMeaning(
            .verificationFailed(.unverifiable("SUMS: no checksum in it")), 9, "verification", "unverifiable",
            "SUMS: no checksum in it"),
        ErrorMeaning(
            .verificationFailed(
                .olderList(
                    document: "http://h/SUMS", signed: Date(timeIntervalSince1970: 0),
                    seen: Date(timeIntervalSince1970: 60))), 9, "verification", "olderList",
            "http://h/SUMS: was signed at 1970-01-01T00:00:00Z, before the list that was seen in this folder, of "
                + "1970-01-01T00:01:00Z, so the file does not get its name; its bytes are kept"),
        ErrorMeaning(
            .verificationFailed(
                .otherSigner(
                    document: "http://h/SUMS", key: "AB", pinned: "CD", since: Date(timeIntervalSince1970: 0))), 9,
            "verification", "otherSigner",
            "http://h/SUMS: was signed by the key AB, but since 1970-01-01T00:00:00Z only the key CD counts in this "
                + "folder, so the file does not get its name; its bytes are kept"),
    ]

    static let sessions = [
        ErrorMeaning(.noSuchDownload(7), 10, "noSuchDownload", "unknownID", "no download 7"),
        ErrorMeaning(.cancelled, 11, "cancelled", "cancelled", "cancelled"),
        ErrorMeaning(
            .sessionUnavailable(.storeUnreadable(path: "/s", message: "m")), 12, "session", "storeUnreadable",
            "cannot open the store /s: m"),
        ErrorMeaning(
            .sessionUnavailable(.ownedElsewhere(3, session: "s")), 12, "session", "ownedElsewhere",
            "download 3 is being run by session s; stop it there first"),
        ErrorMeaning(
            .sessionUnavailable(.alreadyRunning("s")), 12, "session", "alreadyRunning",
            "session s is running already"),
        ErrorMeaning(
            .sessionUnavailable(.notRunning("s")), 12, "session", "notRunning", "session s is not running"),
        ErrorMeaning(
            .sessionUnavailable(.notAnswering("s", message: "3 s")), 12, "session", "notAnswering",
            "session s does not answer: 3 s; is its process stopped?"),
        ErrorMeaning(
            .sessionUnavailable(.incompatible("s", version: 7)), 12, "session", "incompatible",
            "session s uses version 7 of the control API, and this process uses version 1; end that session and start "
                + "it again"),
        ErrorMeaning(
            .sessionUnavailable(.badExchange("s", message: "m")), 12, "session", "badExchange", "session s: m"),
        ErrorMeaning(
            .sessionUnavailable(.startFailed(message: "m")), 12, "session", "startFailed",
            "the background session did not start: m"),
        ErrorMeaning(
            .sessionUnavailable(.noHome), 12, "session", "noHome", "no home folder: set HOME or XDG_STATE_HOME"),
        ErrorMeaning(
            .sessionUnavailable(.shuttingDown), 12, "session", "shuttingDown", "the session is ending"),
        ErrorMeaning(
            .sessionUnavailable(.unusableIdentifier("a/b")), 12, "session", "unusableIdentifier",
            "a/b: cannot be used as the identifier of a session"),
        ErrorMeaning(.unexpected("boom"), 1, "unexpected", "unexpected", "boom"),
    ]
}
