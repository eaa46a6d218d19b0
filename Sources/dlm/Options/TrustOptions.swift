import ArgumentParser
import DownloadKit
import Foundation

/// The options for certificates, keys and schemes: how the server proves its identity, and how dlm proves its own.
struct TrustOptions: ParsableArguments {
    @Flag(name: [.customShort("k"), .long], help: "Do not verify the server's certificate.")
    var insecure = false

    @Flag(
        help: """
            Accept a body without a size as complete when its connection ends. If a file has no strong ETag or \
            Last-Modified and no checksum, compare only its last 64 KiB before continuing it.
            """)
    var allowUnverified = false

    @Option(
        help: ArgumentHelp(
            "Trust only the certificate authorities in this file (PEM).", valueName: "file"), completion: .file())
    var caCertificate: String?

    @Option(
        help: ArgumentHelp(
            "Refuse certificates that this file (PEM) lists as revoked. The file must have a list for each authority.",
            valueName: "file"), completion: .file())
    var crlFile: String?

    @Option(
        help: ArgumentHelp("Present this client certificate (PEM) to the server.", valueName: "file"),
        completion: .file())
    var certificate: String?

    @Option(
        help: ArgumentHelp(
            "Use this key for --certificate if the key is in a separate file; the key must have no passphrase.",
            valueName: "file"),
        completion: .file())
    var privateKey: String?

    @Option(
        help: ArgumentHelp(
            "Accept only a server with this public key: sha256//BASE64 (several separated by ;), or a file with the "
                + "key. This works only with https URLs.", valueName: "key"), completion: .file())
    var pinnedPublicKey: String?

    @Option(
        help: ArgumentHelp(
            "Accept this version of TLS and newer ones. Default: 1.2.", valueName: "version"))
    var tlsMin: ServerTrustPolicy.TLSVersion?

    @Option(
        help: ArgumentHelp(
            "Check the keys of SSH servers against this file (OpenSSH format). Default: ~/.ssh/known_hosts.",
            valueName: "file"),
        completion: .file())
    var knownHosts: String?

    @Option(
        help: ArgumentHelp(
            "Log in over SSH (sftp, scp) with this key, which must have no passphrase. Default: the keys of ssh-agent, "
                + "then id_ed25519, id_ecdsa or id_rsa in ~/.ssh.", valueName: "file"), completion: .file())
    var sshKey: String?

    @Flag(help: "Encrypt ftp with TLS if the server supports it; ftps is always encrypted.")
    var ssl = false

    @Flag(help: "Encrypt ftp with TLS, and fail if the server does not support it.")
    var sslReqd = false

    @Option(
        help: ArgumentHelp(
            "Allow only these schemes, also after redirects, such as =https.", valueName: "schemes"),
        transform: Schemes.init(argument:))
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

    private var isGiven: Bool {
        insecure || tlsMin != nil || ssl || sslReqd
            || [caCertificate, crlFile, certificate, privateKey, pinnedPublicKey, knownHosts, sshKey]
                .contains { $0 != nil }
    }

    /// The trust policy; nil if none of its options is given.
    var policy: ServerTrustPolicy? {
        guard isGiven else { return nil }
        var policy = ServerTrustPolicy.system
        apply(to: &policy)
        return policy
    }

    func apply(to request: inout DownloadRequest) throws {
        try checkFiles()
        apply(to: &request.trust)
        if allowUnverified { request.acceptsUnverified = true }
        if let proto { request.redirect.schemes = proto.names }
    }

    private func apply(to policy: inout ServerTrustPolicy) {
        if insecure { policy.verifiesServer = false }
        policy.authorities = caCertificate.map(FolderPath.file) ?? policy.authorities
        policy.revocations = crlFile.map(FolderPath.file) ?? policy.revocations
        if let certificate {
            policy.certificate = FolderPath.file(certificate)
            policy.privateKey = privateKey.map(FolderPath.file)
        }
        policy.pinnedKey =
            pinnedPublicKey.map { $0.hasPrefix("sha256//") ? $0 : FolderPath.file($0) } ?? policy.pinnedKey
        policy.minimumTLS = tlsMin ?? policy.minimumTLS
        policy.knownHosts = knownHosts.map(FolderPath.file) ?? policy.knownHosts
        policy.sshKey = sshKey.map(FolderPath.file) ?? policy.sshKey
        if ssl || sslReqd { policy.ftpTLS = sslReqd ? .required : .attempted }
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

extension TrustOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        insecure = words.flag("insecure", "k")
        allowUnverified = words.flag("allow-unverified")
        caCertificate = words.path("ca-certificate")
        crlFile = words.path("crl-file")
        certificate = words.path("certificate")
        privateKey = words.path("private-key")
        pinnedPublicKey = words.path("pinned-public-key")
        tlsMin = words.value("tls-min")
        knownHosts = words.path("known-hosts")
        sshKey = words.path("ssh-key")
        ssl = words.flag("ssl")
        sslReqd = words.flag("ssl-reqd")
        proto = words.value("proto", as: Schemes.init(argument:))
    }
}

extension TrustOptions: TellingOptions {
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        let trust = request.trust
        return [
            ("ca-certificate", trust.authorities), ("crl-file", trust.revocations), ("certificate", trust.certificate),
            ("private-key", trust.privateKey), ("pinned-public-key", trust.pinnedKey),
            ("tls-min", trust.minimumTLS?.rawValue), ("known-hosts", trust.knownHosts), ("ssh-key", trust.sshKey),
            ("ssl", GivenOptions.flag(trust.ftpTLS == .attempted)),
            ("ssl-reqd", GivenOptions.flag(trust.ftpTLS == .required)),
            ("proto", request.redirect.schemes.map { $0.joined(separator: ",") }),
        ]
    }
}

extension ServerTrustPolicy.TLSVersion: ExpressibleByArgument {}

/// The schemes that `--proto` allows, read as in curl: `https`, `=https`, `-http`, `-all,https`.
struct Schemes: Equatable {
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
