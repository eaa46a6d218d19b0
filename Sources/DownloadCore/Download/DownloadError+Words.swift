/// The stable words for reasons in `--json`. They are written out as strings, so that renaming a case does not change
/// this public interface.
extension RequestFailure {
    var word: String {
        switch self {
        case .malformedURL: "malformedURL"
        case .missingScheme: "missingScheme"
        case .unsupportedScheme, .missingProtocol: "unsupportedScheme"
        case .folder: "folder"
        case .notForScheme: "notForScheme"
        case .missingSecrets: "missingSecrets"
        case .schemeNotAllowed: "schemeNotAllowed"
        case .unusableSecret: "unusableSecret"
        case .unusableValidation: "unusableValidation"
        }
    }
}

extension FileFailure {
    var word: String {
        switch self {
        case .exists: "exists"
        case .notReplaceable: "exists"
        case .partialExists: "partialExists"
        case .locked: "locked"
        case .replaced: "replaced"
        case .altered: "altered"
        case .truncated: "truncated"
        case .partialMissing: "partialMissing"
        case .deleted: "deleted"
        case .folderMissing: "folderMissing"
        case .folderMoved: "folderMoved"
        case .permissionDenied: "permissionDenied"
        case .readOnly: "readOnlyFileSystem"
        case .noSpace: "noSpace"
        case .nameUnusable: "nameUnusable"
        case .nameOutside: "nameOutside"
        case .notRegular: "notRegular"
        case .system: "system"
        }
    }
}

extension ProtocolFailure {
    var word: String {
        switch self {
        case .redirectRefused: "redirectRefused"
        case .tooManyRedirects: "tooManyRedirects"
        case .redirectWithoutLocation: "redirectWithoutLocation"
        case .wrongRange: "wrongRange"
        case .malformedReply: "malformedReply"
        case .badMetalink: "metalink"
        }
    }
}

extension VerificationFailure {
    var word: String {
        switch self {
        case .checksum, .wrongPieces: "checksum"
        case .size: "size"
        case .unexpectedType, .unwantedType: "unexpectedType"
        case .unwantedStatus: "unexpectedStatus"
        case .tooLarge: "tooLarge"
        case .notItsBeginning: "otherFile"
        case .streamBroken: "changed"
        case .changed: "changed"
        case .otherFile, .otherMirror: "otherFile"
        case .serverDigest: "serverDigest"
        case .endUnproved, .unverifiable: "unverifiable"
        }
    }
}

extension SessionFailure {
    var word: String {
        switch self {
        case .storeUnreadable: "storeUnreadable"
        case .ownedElsewhere: "ownedElsewhere"
        case .alreadyRunning: "alreadyRunning"
        case .noHome: "noHome"
        case .notRunning: "notRunning"
        case .notAnswering: "notAnswering"
        case .incompatible: "incompatible"
        case .badExchange: "badExchange"
        case .startFailed: "startFailed"
        case .shuttingDown: "shuttingDown"
        case .unusableIdentifier: "unusableIdentifier"
        }
    }
}
