import DownloadKit

/// The text of the program for an error: the text of the library, with the options and commands that can help the user.
enum ErrorText {
    /// Returns one line, in which secrets are not hidden; see ``Redaction/describe(_:)``.
    static func describe(_ error: DownloadError) -> String {
        let text = error.description
        switch error {
        case .requestInvalid(let failure): return text + advice(failure)
        case .fileFailed(let failure, let path): return instead(failure).map { "\(path): \($0)" } ?? text
        case .networkFailed(.timeLimit, _): return text + " (--max-time)"
        case .authenticationFailed(let status, nil) where ![401, 407].contains(status):
            let keys = status == 0 ? ", a key with --ssh-key, or one of ssh-agent" : ""
            return text + "; give -u NAME:PASSWORD" + keys
        case .serverRefused:
            return text.replacing("; \(DownloadError.newLinkCommand) ", with: "; --url-command ")
        case .protocolViolated: return error == EndedTransfer.overlong ? text + unprovedAdvice : text
        case .verificationFailed(let failure): return text + advice(failure)
        case .sessionUnavailable(.incompatible): return text + " with this dlm"
        case .trustFailed, .networkFailed, .authenticationFailed, .noSuchDownload, .cancelled, .sessionUnavailable,
            .completedFile, .unexpected:
            return text
        }
    }

    /// The end of a message about a file that cannot be proved to be complete without a checksum.
    private static let unprovedAdvice = "; give --checksum or --allow-unverified"

    private static func advice(_ failure: RequestFailure) -> String {
        switch failure {
        case .missingProtocol: "; to see what it supports, run: dlm doctor"
        case .notForScheme(_, RequestFailure.beyondLibcurl): "; to see what it supports, run: dlm doctor"
        case .notForScheme(_, RequestFailure.bodyIsForHTTP): " (--data)"
        case .notForScheme(_, RequestFailure.methodIsForHTTP): " (--method)"
        case .missingSecrets: "; give it to dlm resume"
        case .schemeNotAllowed: " (--proto, --pinned-public-key)"
        case .missingScheme(let text) where text.lowercased().hasPrefix("magnet:"):
            "; use a BitTorrent client such as aria2c"
        case .malformedURL, .missingScheme, .unsupportedScheme, .folder, .notForScheme,
            .unusableSecret, .unusableValidation:
            ""
        }
    }

    /// Returns the text about a path, or nil to use the text of the library.
    private static func instead(_ failure: FileFailure) -> String? {
        switch failure {
        case .exists: "exists already; choose with --if-exists overwrite, rename, skip or newer"
        case .replaced: "is not the file that this download wrote; move it away, or remove the download with dlm remove"
        case .altered:
            "was changed by another program; to continue it, give its --checksum to dlm get, or move it away to start over"
        case .notReplaceable, .partialExists, .locked, .truncated, .partialMissing, .deleted, .folderMissing,
            .folderMoved, .permissionDenied, .readOnly, .noSpace, .nameUnusable, .nameOutside, .notRegular, .system:
            nil
        }
    }

    private static func advice(_ failure: VerificationFailure) -> String {
        switch failure {
        case .tooLarge: " (--max-size)"
        case .notItsBeginning: " with --if-exists overwrite"
        case .otherFile: " with dlm set-url"
        case .serverDigest: "; run the same command again"
        case .unverifiable where .verificationFailed(failure) == DownloadError.partsUnproved: unprovedAdvice
        case .unverifiable where .verificationFailed(failure) == DownloadError.piecesUnknown: " (-M)"
        case .checksum, .size, .unexpectedType, .unwantedType, .unwantedStatus, .streamBroken, .changed, .wrongPieces,
            .otherMirror, .endUnproved, .unverifiable:
            ""
        }
    }

    /// Returns what happens to the bytes of a download, and why, with the option that can avoid this.
    static func restart(_ why: String) -> String {
        let keepsBytes = why.hasSuffix(DownloadEvent.comparison)
        let option = why == DownloadEvent.comparesAll ? " (--allow-unverified compares the last 64 KiB)" : ""
        return "\(keepsBytes ? "fetches its bytes again" : "starts over"): \(why)\(option)"
    }
}
