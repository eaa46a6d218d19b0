import DownloadKit

/// The exit status that callers of another program expect.
extension DropInProgram {
    /// - Parameters:
    ///   - error: The error of the download; nil if it is not known.
    ///   - status: The status that dlm would end with.
    func status(of error: DownloadError?, _ status: Int32) -> Int32 {
        if status == 0 { return 0 }
        switch self {
        case .aria2c: return Self.aria2Status(error, status)
        // dlm's statuses 1 to 8 have the same meanings as in wget.
        case .wget: return status <= 8 ? status : 1
        case .curl: return Self.curlStatus(error, status)
        }
    }

    /// Returns the status of aria2c(1), section EXIT STATUS. For some errors, the status differs from the one that
    /// aria2's RPC reports (``ErrorMeaning/aria2``).
    private static func aria2Status(_ error: DownloadError?, _ status: Int32) -> Int32 {
        switch error {
        case .fileFailed(.replaced, _), .fileFailed(.altered, _), .fileFailed(.truncated, _),
            .fileFailed(.partialMissing, _), .fileFailed(.deleted, _), .fileFailed(.folderMoved, _),
            .fileFailed(.nameUnusable, _), .fileFailed(.nameOutside, _), .fileFailed(.notRegular, _):
            17
        case .protocolViolated(.redirectWithoutLocation): 23
        case .verificationFailed(.checksum), .verificationFailed(.serverDigest): 32
        case .verificationFailed(.notItsBeginning): 8
        case .verificationFailed: 1
        case let error?: Int32(error.meaning.aria2)
        case nil: status == 2 ? 28 : 1
        }
    }

    /// Returns the status of curl(1), section EXIT CODES. For a failure of the network or of TLS, it is libcurl's own
    /// code, if there is one.
    private static func curlStatus(_ error: DownloadError?, _ status: Int32) -> Int32 {
        switch error {
        case .networkFailed(let failure, let diagnosis):
            if (1...99).contains(diagnosis.code) { return Int32(diagnosis.code) }
            switch failure {
            case .nameResolution: return 6
            case .connect: return 7
            case .timedOut, .stalled, .timeLimit: return 28
            case .connectionLost, .networkChanged: return 18
            }
        case .trustFailed(let diagnosis): return (1...99).contains(diagnosis.code) ? Int32(diagnosis.code) : 60
        case .serverRefused: return 22
        case .authenticationFailed(let code, _): return code >= 400 ? 22 : 67
        case .protocolViolated(.tooManyRedirects), .protocolViolated(.redirectRefused): return 47
        case .protocolViolated: return 8
        case .fileFailed: return 23
        case .verificationFailed(.tooLarge): return 63
        case .verificationFailed(.notItsBeginning): return 33
        case .verificationFailed: return 18
        case .requestInvalid(.unsupportedScheme), .requestInvalid(.missingProtocol): return 1
        case .requestInvalid: return 3
        case .cancelled: return 42
        case .noSuchDownload, .sessionUnavailable, .completedFile, .unexpected: return 2
        case nil: return status == 2 ? 2 : 23
        }
    }
}
