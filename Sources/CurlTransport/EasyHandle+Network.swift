import CCurl
import DownloadCore
import Glibc
import HTTPTypes

extension TransferRequest {
    var isEncryptedFTP: Bool { url.known == .ftps || url.known == .ftp && options.trust.ftpTLS != nil }
}

/// The options for the connection to the server, for the verification of the server, and for FTP and SSH.
extension EasyHandle {
    func configureTrust(_ request: TransferRequest, _ authorities: CertificateAuthorities) {
        // A name server is asked over https, so its certificate must be verified, too.
        guard request.url.scheme == "https" || request.isEncryptedFTP || request.options.network.nameServer != nil
        else {
            return
        }
        let trust = request.options.trust
        check(dlm_require_modern_tls(pointer, trust.minimumTLS == .tls13 ? 1 : 0))
        if let file = trust.authorities {
            check(dlm_trust_only(pointer, file))
        } else {
            check(dlm_trust_authorities(pointer, authorities.file, authorities.folder))
        }
        set(CURLOPT_SSL_VERIFYPEER, trust.verifiesServer ? 1 : 0)
        set(CURLOPT_SSL_VERIFYHOST, trust.verifiesServer ? 2 : 0)
        if let file = trust.revocations { set(CURLOPT_CRLFILE, file) }
        if let file = trust.certificate {
            set(CURLOPT_SSLCERT, file)
            set(CURLOPT_SSLKEY, trust.privateKey ?? file)
            // Otherwise OpenSSL would ask for a passphrase on the terminal, and the engine would wait for the answer.
            set(CURLOPT_KEYPASSWD, "")
        }
        if let key = trust.pinnedKey { set(CURLOPT_PINNEDPUBLICKEY, key) }
    }

    func configureNetwork(_ request: TransferRequest, _ shared: SharedState) {
        let network = request.options.network
        check(dlm_set_share(pointer, network.nameServer == nil ? shared.handle : shared.handleWithoutDNS))
        // Otherwise libcurl would look for each transfer at all variables that may name a proxy.
        if network.proxy == nil, !shared.mayHaveProxy { set(CURLOPT_NOPROXY, "*") }
        if network == NetworkSettings() { return }
        if let proxy = network.proxy { use(proxy, request.options.trust.authorities ?? shared.authorities.file) }
        if let hosts = network.noProxy { set(CURLOPT_NOPROXY, hosts) }
        if let name = network.interface {
            set(CURLOPT_INTERFACE, NetworkPath.family(name) == nil ? "if!\(name)" : "host!\(name)")
        }
        if let family = network.addressFamily { check(dlm_restrict_addresses(pointer, family == .ipv4 ? 4 : 6)) }
        if let url = network.nameServer { set(CURLOPT_DOH_URL, url) }
        if let seconds = network.dnsCacheTime { set(CURLOPT_DNS_CACHE_TIMEOUT, Int(min(seconds, 1e9))) }
        if let addresses = network.addresses, !addresses.isEmpty {
            // CURLOPT_RESOLVE is not used, because its entries in the shared DNS cache would apply to all transfers.
            connect(
                to: addresses.map { address in
                    "\(address.host == "*" ? "" : address.host):\(address.port):\(address.address):\(address.port)"
                })
        }
    }

    private func use(_ proxy: ProxyAddress, _ authorities: String?) {
        set(CURLOPT_PROXY, proxy.url)
        if let credential = proxy.credential {
            check(dlm_use_proxy_authentication(pointer, credential.user, credential.password ?? ""))
        }
        if proxy.url.hasPrefix("https:"), let authorities { set(CURLOPT_PROXY_CAINFO, authorities) }
    }

    // MARK: Cookies

    /// Gives the cookies to libcurl, which selects those that match the URL and keeps the cookies that the server sets.
    func configureCookies(_ request: TransferRequest) {
        guard let cookies = request.cookies else { return }
        set(CURLOPT_COOKIEFILE, "")
        for line in cookies { set(CURLOPT_COOKIELIST, line) }
        // The request's own cookies and the cookies of libcurl must be in one field (RFC 6265 section 5.4).
        let own = request.options.fields.values(.cookie)
        if !own.isEmpty { set(CURLOPT_COOKIE, own.joined(separator: "; ")) }
    }

    /// Returns all cookies that the handle has now, or nil if the request keeps no cookies.
    func cookies(of transfer: CurlTransfer) -> TransferResult.KnownCookies? {
        guard let sent = transfer.request.cookies else { return nil }
        let list = dlm_get_cookies(pointer)
        defer { curl_slist_free_all(list) }
        let lines = sequence(first: list) { $0?.pointee.next }.prefix { $0 != nil }
            .compactMap { $0?.pointee.data.map { String(cString: $0) } }
        return TransferResult.KnownCookies(host: transfer.request.url.host, sent: sent, lines: Array(lines))
    }

    // MARK: Servers without HTTP

    func configureFileServer(_ request: TransferRequest, _ setting: Setting, _ logins: LoginFiles) {
        set(CURLOPT_FILETIME, 1)
        if setting.offset > 0 { check(dlm_set_offset(pointer, CURLOPT_RESUME_FROM_LARGE, curl_off_t(setting.offset))) }
        // A proxy must tunnel the connection. Otherwise the proxy would fetch the file itself, over HTTP.
        set(CURLOPT_HTTPPROXYTUNNEL, 1)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        let credential = request.options.credential
        if request.url.known.isFTP {
            let encryption =
                switch request.options.trust.ftpTLS {
                case nil: Int32(0)
                case .attempted: Int32(1)
                case .required: Int32(2)
                }
            check(dlm_prepare_ftp(pointer, encryption))
            set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(max(1, min(request.options.stallTimeout, 3600))))
            if let credential { check(dlm_log_in(pointer, credential.user, credential.password ?? "")) }
            return
        }
        let password = credential?.password ?? ""
        let usesOwn = request.options.trust.refusesOwnLogins != true
        let key = request.options.trust.sshKey ?? (usesOwn ? logins.key : nil)
        if password.isEmpty { onlyKey = key }
        if let user = credential?.user ?? logins.user { check(dlm_log_in(pointer, user, password)) }
        check(dlm_use_ssh_authentication(pointer, key, usesOwn ? 1 : 0, password.isEmpty ? 0 : 1))
        // Without this empty passphrase, a passphrase for the key would be asked for on the terminal.
        set(CURLOPT_KEYPASSWD, "")
        if !request.options.trust.verifiesServer || request.options.trust.knownHosts != nil || !usesOwn {
            // libcurl checks the key of a server and logs in once for each connection. A connection that is reused
            // could have been checked under other rules, and could have been logged in with the user's own key.
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
        }
    }
}
