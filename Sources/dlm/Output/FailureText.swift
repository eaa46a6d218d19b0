import DownloadKit

/// The line that reports a failure: what failed, on what, why, and what to do.
enum FailureText {
    /// - Parameter canResume: Whether the download is recorded, so that `dlm resume` can continue it.
    static func line(_ record: DownloadRecord, _ error: DownloadError, canResume: Bool = true) -> String {
        let why = Redaction.describe(error) + advice(record, error, canResume)
        var way = "; run: "
        if case .fileFailed(.exists, _) = error { way = "; or move it away and run: " }
        if case .completedFile(.changed, _) = error { way = "; move it away and run: " }
        let hint = (canResume ? hint(record, error) : nil).map { way + $0 } ?? ""
        // The messages of these errors already begin with the path of the file.
        switch error {
        case .fileFailed, .completedFile: return why + hint
        default: break
        }
        if canResume, record.received > 0 || record.fileName != nil && !hint.isEmpty {
            return "\(record.id): \(record.displayName): \(why)\(others(record))\(hint)"
        }
        return "\(record.source): \(why)\(others(record))\(hint)"
    }

    /// Returns the advice how to accept a file that cannot be proved to be complete, or all files of its host, or what
    /// to do about a wrong digest. Only a digest that was found beside the file can be left out.
    private static func advice(_ record: DownloadRecord, _ error: DownloadError, _ canResume: Bool) -> String {
        if case .verificationFailed(.serverDigest(let expected, _)) = error {
            let isBeside = record.resume.proof?.found == expected
            return isBeside ? "; if the digest is out of date, give --verify headers" : "; run the same command again"
        }
        guard error == .verificationFailed(.endUnproved) else { return "" }
        let host = Redaction.hidden(record.source.host)
        let now = canResume ? "run: dlm resume \(record.id) --allow-unverified" : "give --allow-unverified"
        return "; if the file is complete, \(now); for all files of this host, write allow-unverified: true for "
            + "\(host) in the hosts: section of config.yaml; or prove the file with --checksum"
    }

    /// Returns a text with the number of other sources that failed, because the error is only about the last source.
    private static func others(_ record: DownloadRecord) -> String {
        let standings = record.resume.sources?.standings ?? []
        let others = standings.count { $0.failure != nil && $0.url != record.source.string }
        if others == 0 { return "" }
        return " (\(Units.count(others, "other source")) failed, too; see: dlm show \(record.id))"
    }

    private static func hint(_ record: DownloadRecord, _ error: DownloadError) -> String? {
        switch error {
        case .requestInvalid(.missingSecrets):
            return (["dlm resume \(record.id)"] + record.request.optionsForSecrets).joined(separator: " ")
        case .requestInvalid, .noSuchDownload, .sessionUnavailable, .verificationFailed(.checksum),
            .verificationFailed(.serverDigest), .verificationFailed(.endUnproved), .verificationFailed(.unverifiable),
            .verificationFailed(.size), .verificationFailed(.tooLarge), .verificationFailed(.notItsBeginning),
            .verificationFailed(.olderList), .verificationFailed(.otherSigner), .verificationFailed(.streamBroken),
            .fileFailed(.partialExists, _), .fileFailed(.nameUnusable, _),
            .fileFailed(.altered, _):
            return nil
        case .completedFile: return "dlm resume \(record.id)"
        case .networkFailed, .trustFailed, .authenticationFailed, .protocolViolated, .serverRefused,
            .verificationFailed, .cancelled, .fileFailed, .unexpected:
            return error.isTransient || record.received > 0 ? "dlm resume \(record.id)" : nil
        }
    }
}

extension DownloadRequest {
    /// The options with which the user gives missing secrets again.
    fileprivate var optionsForSecrets: [String] {
        var options = headers.contains { $0.value == nil } ? ["-H 'NAME: VALUE'"] : []
        if let credential, credential.password == nil { options.append("-u \(credential.user)") }
        if let body = http.body, body.bytes == nil { options.append("--data DATA") }
        if let proxy = network.proxy, let credential = proxy.credential, credential.password == nil {
            options.append("--proxy \(proxy.url.replacing("://", with: "://\(credential.user):PASSWORD@"))")
        }
        // The session that reported the error may need secrets that this record does not show.
        return options.isEmpty ? ["-H 'NAME: VALUE'"] : options
    }
}
