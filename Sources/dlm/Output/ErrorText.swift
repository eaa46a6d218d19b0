import DownloadKit

/// The text of the program for an error: the text of the library, with the options and commands that help.
enum ErrorText {
    /// Returns one line without secrets being hidden; see ``Redaction/describe(_:)``.
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
        case .protocolViolated: return error == SegmentWriter.overlong ? text + "; or give --allow-unverified" : text
        case .verificationFailed(let failure): return text + advice(failure)
        case .sessionUnavailable(.incompatible): return text + " with this dlm"
        case .trustFailed, .networkFailed, .authenticationFailed, .noSuchDownload, .cancelled, .sessionUnavailable,
            .completedFile, .unexpected:
            return text
        }
    }

    private static func advice(_ failure: RequestFailure) -> String {
        switch failure {
        case .missingProtocol: "; dlm doctor tells what it has"
        case .notForScheme(_, RequestFailure.beyondLibcurl): "; dlm doctor tells what it has"
        case .notForScheme(_, RequestFailure.bodyIsForHTTP): " (--data)"
        case .notForScheme(_, RequestFailure.methodIsForHTTP): " (--method)"
        case .missingSecrets: "; give it as with dlm get"
        case .missingScheme(let text) where text.lowercased().hasPrefix("magnet:"): "; aria2c speaks it"
        case .malformedURL, .missingScheme, .unsupportedScheme, .folder, .notForScheme, .schemeNotAllowed,
            .unusableSecret, .unusableValidation:
            ""
        }
    }

    /// Returns the text about a path, or nil to use the text of the library.
    private static func instead(_ failure: FileFailure) -> String? {
        switch failure {
        case .exists: "exists already; choose with --if-exists overwrite, rename, skip or newer"
        case .replaced: "is not the file that was being downloaded to; move it away, or dlm remove the download"
        case .altered:
            "was changed by another program; to go on with it give its --checksum to dlm get, else move it away"
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
        case .unverifiable where .verificationFailed(failure) == DownloadError.partsUnproved:
            "; or give --allow-unverified"
        case .checksum, .size, .unexpectedType, .unwantedType, .unwantedStatus, .streamBroken, .changed, .wrongPieces,
            .otherMirror, .endUnproved, .unverifiable:
            ""
        }
    }

    /// Returns the reason why everything is fetched again, with the option that helps.
    static func restart(_ why: String) -> String {
        why == DownloadEvent.comparesAll ? why + " (--allow-unverified compares the last 64 KiB)" : why
    }
}
