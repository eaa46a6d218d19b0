import ArgumentParser
import DownloadKit
import Foundation

/// The options for certificates, keys and schemes: how the server proves its identity, and how dlm proves its own.
struct TrustOptions: OptionTable {
    var insecure = false
    var allowUnverified = false
    var allowRollback = false
    var trustOnFirstUse = false
    var caCertificate: String?
    var crlFile: String?
    var certificate: String?
    var privateKey: String?
    var pinnedPublicKey: String?
    var tlsMin: ServerTrustPolicy.TLSVersion?
    var knownHosts: String?
    var sshKey: String?
    var ssl = false
    var sslReqd = false
    var proto: Schemes?

    func validate() throws {
        let files = [
            ("--ca-certificate", caCertificate), ("--crl-file", crlFile), ("--certificate", certificate),
            ("--private-key", privateKey), ("--pinned-public-key", pinnedPublicKey),
            ("--known-hosts", knownHosts), ("--ssh-key", sshKey),
        ]
        for (name, path) in files where path == "" { throw ValidationError("\(name): nothing given") }
        if privateKey != nil, certificate == nil {
            throw ValidationError("--private-key needs a certificate; give --certificate, too")
        }
        guard let pinnedPublicKey, pinnedPublicKey.hasPrefix("sha256//") else { return }
        for pin in pinnedPublicKey.split(separator: ";", omittingEmptySubsequences: false) {
            guard pin.hasPrefix("sha256//"), Data(base64Encoded: String(pin.dropFirst(8)))?.count == 32 else {
                throw ValidationError("--pinned-public-key: '\(pin)' is not of the form sha256//BASE64")
            }
        }
    }

    static let noKeys = ValidationError("--trust-on-first-use: no keys are given; give them with --signed-by")

    mutating func rows(_ row: inout OptionRows) {
        row.change { _ in try checkFiles() }
        row(
            &insecure, "insecure", letter: "k", .flag, "Do not verify the server's certificate.",
            .sets { $0.trust.verifiesServer = !$1 })
        row(
            &allowUnverified, "allow-unverified", .flag,
            "Accept a body without a size as complete when its connection ends. If a file has no strong ETag or "
                + "Last-Modified and no checksum, compare only its last 64 KiB before continuing it.",
            .sets { $0.acceptsUnverified = $1 })
        row(
            &allowRollback, "allow-rollback", .flag,
            "With --signed-by, accept a list that was signed before the last list that was seen in its folder, and "
                + "remember its time instead. Signatures of signify have no time, so nothing is compared.",
            .sets({ $0.allowsRollback = $1 }, shows: { GivenOptions.flag($0.allowsRollback) }))
        row(
            &trustOnFirstUse, "trust-on-first-use", .flag,
            "Record which key of --signed-by makes the first good signature in the folder of the URL. From then on, no "
                + "other key counts for --signed-by in this folder, unless it is the only key that you give, as "
                + "FILE#FINGERPRINT. With this option, that key is then recorded instead.",
            .sets({ $0.trustsFirstUse = $1 }, shows: { GivenOptions.flag($0.trustsFirstUse) }))
        row(
            &caCertificate, "ca-certificate", .path("file"),
            "Trust only the certificate authorities in this file (PEM).", .file(\.trust.authorities))
        row(
            &crlFile, "crl-file", .path("file"),
            "Refuse certificates that this file (PEM) lists as revoked. The file must have a list for each authority.",
            .file(\.trust.revocations))
        row(
            &certificate, "certificate", in: .trusted, .path("file"),
            "Present this client certificate (PEM) to the server.",
            .sets(
                { ($0.trust.certificate, $0.trust.privateKey) = (FolderPath.file($1), nil) },
                shows: \.trust.certificate))
        row(
            &privateKey, "private-key", in: .trusted, .path("file"),
            "Use this key for --certificate if the key is in a separate file; the key must have no passphrase.",
            .file(\.trust.privateKey))
        row(
            &pinnedPublicKey, "pinned-public-key", .path("key"),
            "Accept only a server with this public key: sha256//BASE64 (several separated by ;), or a file with the "
                + "key. This works only with https URLs.",
            .sets(
                { $0.trust.pinnedKey = $1.hasPrefix("sha256//") ? $1 : FolderPath.file($1) }, shows: \.trust.pinnedKey))
        row(
            &tlsMin, "tls-min", .word("version"), "Accept this version of TLS and newer ones. Default: 1.2.",
            .field(\.trust.minimumTLS, shows: \.rawValue))
        row(
            &knownHosts, "known-hosts", .path("file"),
            "Check the keys of SSH servers against this file (OpenSSH format). Default: ~/.ssh/known_hosts.",
            .file(\.trust.knownHosts))
        row(
            &sshKey, "ssh-key", in: .trusted, .path("file"),
            "Log in over SSH (sftp, scp) with this key, which must have no passphrase. Default: the keys of "
                + "ssh-agent, then id_ed25519, id_ecdsa or id_rsa in ~/.ssh.", .file(\.trust.sshKey))
        row(
            &ssl, "ssl", .flag, "Encrypt ftp with TLS if the server supports it; ftps is always encrypted.",
            .choice(\.trust.ftpTLS, .attempted))
        row(
            &sslReqd, "ssl-reqd", .flag, "Encrypt ftp with TLS, and fail if the server does not support it.",
            .choice(\.trust.ftpTLS, .required))
        row(
            &proto, "proto", .value("schemes"), "Allow only these schemes, also after redirects, such as =https.",
            .sets({ $0.redirect.schemes = $1.names }, shows: { $0.redirect.schemes?.joined(separator: ",") }))
    }

    // MARK: The files

    private func checkFiles() throws {
        for (name, path) in [("--ca-certificate", caCertificate), ("--certificate", certificate)] {
            try check(path, name, holds: "CERTIFICATE-----", "no certificate in PEM format")
        }
        try check(crlFile, "--crl-file", holds: "X509 CRL-----", "no list of revoked certificates in PEM format")
        try check(privateKey ?? certificate, "--private-key", holds: "PRIVATE KEY-----", "no private key in PEM format")
        for path in [privateKey, certificate].compactMap(\.self) {
            let text = String(decoding: try ChecksumFile.read(path), as: UTF8.self)
            guard text.contains("ENCRYPTED") else { continue }
            throw ValidationError(
                "--private-key \(path): has a passphrase; write a key without one: openssl pkey -in KEY -out FILE")
        }
        if let knownHosts { _ = try ChecksumFile.read(knownHosts) }
        try check(sshKey, "--ssh-key", holds: "PRIVATE KEY-----", "no private key")
        if let path = pinnedPublicKey, !path.hasPrefix("sha256//") { _ = try ChecksumFile.read(path) }
    }

    private func check(_ path: String?, _ option: String, holds mark: String, _ what: String) throws {
        guard let path else { return }
        let text = String(decoding: try ChecksumFile.read(path), as: UTF8.self)
        if !text.contains(mark) { throw ValidationError("\(option) \(path): the file has \(what)") }
    }
}

extension ServerTrustPolicy.TLSVersion: ExpressibleByArgument {}

/// The schemes that `--proto` allows, read as in curl: `https`, `=https`, `-http`, `-all,https`.
struct Schemes: ParsedArgument, Equatable {
    let names: [String]

    init(argument: String) throws {
        var allowed = SourceScheme.names
        for word in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            let sign = word.first.flatMap { "+-=".contains($0) ? $0 : nil }
            let name = String(sign == nil ? word : word.dropFirst())
            let meant = name == "all" ? SourceScheme.names : [name]
            if sign == "-" {
                allowed.removeAll { meant.contains($0) }
            } else {
                guard meant.allSatisfy(SourceScheme.names.contains) else {
                    throw ValidationError("give one or more of \(SourceScheme.names.joined(separator: ", "))")
                }
                // In curl, a scheme without a sign is added to the allowed schemes. While all schemes are still
                // allowed, adding one changes nothing, so the user means this scheme alone.
                if sign != "+", sign == "=" || allowed.count == SourceScheme.names.count { allowed = [] }
                allowed += meant.filter { !allowed.contains($0) }
            }
        }
        if allowed.isEmpty { throw ValidationError("no scheme is left; give one such as =https") }
        names = SourceScheme.names.filter(allowed.contains)
    }
}
