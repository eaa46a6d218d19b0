import DownloadKit

/// The text of the program for an error: the text of the library, with the options and commands that can help the user.
enum ErrorText {
    /// Returns one line, in which secrets are not hidden; see ``Redaction/describe(_:)``.
    static func describe(_ error: DownloadError) -> String {
        switch error {
        case .fileFailed(.altered, let path):
            "\(path): was changed by another program; to continue it, give its --checksum to dlm get, or move it away to "
                + "start over"
        case .serverRefused: "\(error)".replacing("; \(DownloadError.newLinkCommand) ", with: "; --url-command ")
        default: "\(error)" + advice(error)
        }
    }

    private static func advice(_ error: DownloadError) -> String {
        switch error {
        case DownloadError.partsUnproved, EndedTransfer.overlong: "; give --checksum or --allow-unverified"
        case DownloadError.unproved: "; give --checksum, or --verify headers to accept it"
        case DownloadError.piecesUnknown: " (-M)"
        case .requestInvalid(.missingProtocol), .requestInvalid(.missingOption):
            "; to see what it supports, run: dlm doctor"
        case .requestInvalid(.bodyNotForScheme): " (--data)"
        case .requestInvalid(.methodNotForScheme): " (--method)"
        case .requestInvalid(.missingSecrets): "; give it to dlm resume"
        case .requestInvalid(.schemeNotAllowed): " (--proto, --pinned-public-key)"
        case .requestInvalid(.missingScheme(let text)) where text.lowercased().hasPrefix("magnet:"):
            "; use a BitTorrent client such as aria2c"
        case .fileFailed(.exists, _): "; choose with --if-exists overwrite, rename, skip or newer"
        case .fileFailed(.replaced, _): " with dlm remove"
        case .networkFailed(.timeLimit, _): " (--max-time)"
        case .authenticationFailed(let status, nil) where ![401, 407].contains(status):
            "; give -u NAME:PASSWORD" + (status == 0 ? ", a key with --ssh-key, or one of ssh-agent" : "")
        case .verificationFailed(.tooLarge): " (--max-size)"
        case .verificationFailed(.notItsBeginning): " with --if-exists overwrite"
        case .verificationFailed(.otherFile): " with dlm set-url"
        case .verificationFailed(.olderList): "; if this is right, give --allow-rollback"
        case .verificationFailed(.otherSigner(_, let key, _, _)):
            "; if this is right, choose the key with --signed-by, for OpenPGP as FILE#\(key)"
        case .sessionUnavailable(.incompatible): " with this dlm"
        case .requestInvalid(.malformedURL), .requestInvalid(.missingScheme), .requestInvalid(.unsupportedScheme),
            .requestInvalid(.folder), .requestInvalid(.notForScheme), .requestInvalid(.unusableSecret),
            .requestInvalid(.unusableValidation), .fileFailed(.notReplaceable, _), .fileFailed(.partialExists, _),
            .fileFailed(.locked, _), .fileFailed(.altered, _), .fileFailed(.truncated, _),
            .fileFailed(.partialMissing, _), .fileFailed(.deleted, _), .fileFailed(.folderMissing, _),
            .fileFailed(.folderMoved, _), .fileFailed(.permissionDenied, _), .fileFailed(.readOnly, _),
            .fileFailed(.noSpace, _), .fileFailed(.nameUnusable, _), .fileFailed(.nameOutside, _),
            .fileFailed(.notRegular, _), .fileFailed(.system, _), .verificationFailed(.checksum),
            .verificationFailed(.size), .verificationFailed(.unexpectedType), .verificationFailed(.unwantedType),
            .verificationFailed(.unwantedStatus), .verificationFailed(.streamBroken), .verificationFailed(.changed),
            .verificationFailed(.serverDigest), .verificationFailed(.wrongPieces), .verificationFailed(.otherMirror),
            .verificationFailed(.endUnproved), .verificationFailed(.unverifiable), .networkFailed, .trustFailed,
            .authenticationFailed, .protocolViolated, .serverRefused, .noSuchDownload, .cancelled,
            .sessionUnavailable, .completedFile, .unexpected:
            ""
        }
    }

    /// Returns what happens to the bytes of a download, and why, with the option that can avoid this.
    static func restart(_ why: RestartReason) -> String {
        let option = why == .versionUnproved ? " (--allow-unverified compares the last 64 KiB)" : ""
        return "\(why.keepsBytes ? "fetches its bytes again" : "starts over"): \(why)\(option)"
    }
}
