import ArgumentParser
import DownloadKit
import Foundation

/// The options for certificates, keys and schemes: how the server proves its identity, and how dlm proves its own.
struct TrustOptions: OptionTable {
    @Flag(name: [.customShort("k"), .long], help: "Do not verify the server's certificate.")
    var insecure = false

    @Flag(
        help: """
            Accept a body without a size as complete when its connection ends. If a file has no strong ETag or \
            Last-Modified and no checksum, compare only its last 64 KiB before continuing it.
            """)
    var allowUnverified = false

    @Option("Trust only the certificate authorities in this file (PEM).", value: "file", completion: .file())
    var caCertificate: String?

    @Option(
        "Refuse certificates that this file (PEM) lists as revoked. The file must have a list for each authority.",
        value: "file", completion: .file())
    var crlFile: String?

    @Option("Present this client certificate (PEM) to the server.", value: "file", completion: .file())
    var certificate: String?

    @Option(
        "Use this key for --certificate if the key is in a separate file; the key must have no passphrase.",
        value: "file", completion: .file())
    var privateKey: String?

    @Option(
        "Accept only a server with this public key: sha256//BASE64 (several separated by ;), or a file with the key. "
            + "This works only with https URLs.", value: "key", completion: .file())
    var pinnedPublicKey: String?

    @Option("Accept this version of TLS and newer ones. Default: 1.2.", value: "version")
    var tlsMin: ServerTrustPolicy.TLSVersion?

    @Option(
        "Check the keys of SSH servers against this file (OpenSSH format). Default: ~/.ssh/known_hosts.", value: "file",
        completion: .file())
    var knownHosts: String?

    @Option(
        "Log in over SSH (sftp, scp) with this key, which must have no passphrase. Default: the keys of ssh-agent, "
            + "then id_ed25519, id_ecdsa or id_rsa in ~/.ssh.", value: "file", completion: .file())
    var sshKey: String?

    @Flag(help: "Encrypt ftp with TLS if the server supports it; ftps is always encrypted.")
    var ssl = false

    @Flag(help: "Encrypt ftp with TLS, and fail if the server does not support it.")
    var sslReqd = false

    @Option("Allow only these schemes, also after redirects, such as =https.", value: "schemes")
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

    mutating func rows(_ row: inout OptionRows) {
        row.change { _ in try checkFiles() }
        insecure = row("insecure", letter: "k", .flag, insecure, .sets { $0.trust.verifiesServer = !$1 })
        allowUnverified = row("allow-unverified", .flag, allowUnverified, .sets { $0.acceptsUnverified = $1 })
        caCertificate = row("ca-certificate", .path, caCertificate, .file(\.trust.authorities))
        crlFile = row("crl-file", .path, crlFile, .file(\.trust.revocations))
        certificate = row(
            "certificate", .path, certificate,
            .sets(
                { ($0.trust.certificate, $0.trust.privateKey) = (FolderPath.file($1), nil) },
                shows: \.trust.certificate))
        privateKey = row("private-key", .path, privateKey, .file(\.trust.privateKey))
        pinnedPublicKey = row(
            "pinned-public-key", .path, pinnedPublicKey,
            .sets(
                { $0.trust.pinnedKey = $1.hasPrefix("sha256//") ? $1 : FolderPath.file($1) }, shows: \.trust.pinnedKey))
        tlsMin = row("tls-min", .word(), tlsMin, .field(\.trust.minimumTLS, shows: \.rawValue))
        knownHosts = row("known-hosts", .path, knownHosts, .file(\.trust.knownHosts))
        sshKey = row("ssh-key", .path, sshKey, .file(\.trust.sshKey))
        ssl = row("ssl", .flag, ssl, .choice(\.trust.ftpTLS, .attempted))
        sslReqd = row("ssl-reqd", .flag, sslReqd, .choice(\.trust.ftpTLS, .required))
        proto = row(
            "proto", .value(), proto,
            .sets({ $0.redirect.schemes = $1.names }, shows: { $0.redirect.schemes?.joined(separator: ",") }))
    }

    // MARK: The files

    /// Checks the files, so that errors in them are reported before anything is fetched.
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

    /// Reads an argument. The parser calls this initializer as `transform`, and puts the thrown text at the end of its
    /// message.
    init(argument: String) throws {
        var allowed = RedirectPolicy.knownSchemes
        for word in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            let sign = word.first.flatMap { "+-=".contains($0) ? $0 : nil }
            let name = String(sign == nil ? word : word.dropFirst())
            let meant = name == "all" ? RedirectPolicy.knownSchemes : [name]
            if sign == "-" {
                allowed.removeAll { meant.contains($0) }
            } else {
                guard meant.allSatisfy(RedirectPolicy.knownSchemes.contains) else {
                    throw ValidationError("give one or more of \(RedirectPolicy.knownSchemes.joined(separator: ", "))")
                }
                // In curl, a scheme without a sign is added to the allowed schemes. While all schemes are still
                // allowed, adding one changes nothing, so the user means this scheme alone.
                if sign != "+", sign == "=" || allowed.count == RedirectPolicy.knownSchemes.count { allowed = [] }
                allowed += meant.filter { !allowed.contains($0) }
            }
        }
        if allowed.isEmpty { throw ValidationError("no scheme is left; give one such as =https") }
        names = RedirectPolicy.knownSchemes.filter(allowed.contains)
    }
}
