import CCurl
import CSystem
import DownloadCore
import Foundation

extension TransferRequest {
    var isEncryptedFTP: Bool { url.known == .ftps || url.known == .ftp && trust.ftpTLS != nil }
}

/// The files that OpenSSH keeps in the user's home folder, and the user's name.
struct LoginFiles: Sendable {
    let knownHosts: String?
    /// The first of the user's private keys that can be read, in the order of OpenSSH's own preference.
    let key: String?
    let user: String?

    init(environment: [String: String]) {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        knownHosts = home.map { $0 + "/.ssh/known_hosts" }
        key = ["id_ed25519", "id_ecdsa", "id_rsa"].lazy
            .compactMap { name in home.map { "\($0)/.ssh/\(name)" } }.first { access($0, R_OK) == 0 }
        user = getpwuid(geteuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
    }
}

/// The options and errors of FTP and SSH transfers.
extension EasyHandle {
    func configureFileServer(_ request: TransferRequest, _ setting: Setting, _ logins: LoginFiles) {
        set(CURLOPT_FILETIME, 1)
        if setting.offset > 0 { check(dlm_set_offset(pointer, CURLOPT_RESUME_FROM_LARGE, curl_off_t(setting.offset))) }
        // A proxy must tunnel the connection. Otherwise the proxy would fetch the file itself, over HTTP.
        set(CURLOPT_HTTPPROXYTUNNEL, 1)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        let credential = request.credential
        if request.url.known.isFTP {
            let encryption =
                switch request.trust.ftpTLS {
                case nil: Int32(0)
                case .attempted: Int32(1)
                case .required: Int32(2)
                }
            check(dlm_prepare_ftp(pointer, encryption))
            set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(max(1, min(request.stallTimeout, 3600))))
            if let credential { check(dlm_log_in(pointer, credential.user, credential.password ?? "")) }
            return
        }
        let password = credential?.password ?? ""
        let usesOwn = request.trust.refusesOwnLogins != true
        let key = request.trust.sshKey ?? (usesOwn ? logins.key : nil)
        if password.isEmpty { onlyKey = key }
        if let user = credential?.user ?? logins.user { check(dlm_log_in(pointer, user, password)) }
        check(dlm_use_ssh_authentication(pointer, key, usesOwn ? 1 : 0, password.isEmpty ? 0 : 1))
        // Without this empty passphrase, a passphrase for the key would be asked for on the terminal.
        set(CURLOPT_KEYPASSWD, "")
        if !request.trust.verifiesServer || request.trust.knownHosts != nil || !usesOwn {
            // libcurl checks the key of a server and logs in once for each connection. A connection that is reused could
            // have been checked under other rules, and could have been logged in with the user's own key.
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
        }
    }

    func checkHostKey(for transfer: CurlTransfer, _ logins: LoginFiles) {
        let trust = transfer.request.trust
        guard trust.verifiesServer else { return }
        // Without a file, libcurl would not check any key.
        let known = trust.knownHosts ?? logins.knownHosts ?? "/dev/null"
        check(dlm_check_host_key(pointer, known, onHostKey, Unmanaged.passUnretained(transfer).toOpaque()))
    }

    /// Returns a number about the transfer from libcurl, or nil if libcurl does not know it.
    func offset(_ info: CURLINFO) -> Int64? {
        var value: curl_off_t = -1
        return dlm_get_offset(pointer, info, &value) == CURLE_OK && value >= 0 ? Int64(value) : nil
    }

    /// Returns the error for a libcurl code from a server without HTTP; nil if the code means the same as from other
    /// servers.
    func fileServerFailure(_ code: CURLcode, _ remote: RemoteFile, _ url: SourceURL) -> DownloadError? {
        let status = url.known.isFTP ? number(CURLINFO_RESPONSE_CODE) : 0
        let diagnosis = TransportDiagnosis(code: Int(code.rawValue), message: message(code))
        // After a 4yz reply another attempt may succeed (RFC 959 section 4.2.1). 421 means that the server has too
        // many connections already, or shuts down.
        if status == 421, Self.isReply(code) || code == CURLE_OPERATION_TIMEDOUT {
            let words = "the server says 421: it has too many connections, or is shutting down"
            return .networkFailed(.connect, TransportDiagnosis(code: diagnosis.code, message: words))
        }
        if (400..<500).contains(status), Self.isReply(code) {
            let words = TransportDiagnosis(code: diagnosis.code, message: "the server says \(status): \(message(code))")
            return .networkFailed(.connectionLost, words)
        }
        switch code {
        case CURLE_LOGIN_DENIED where remote.hasNoRoom:
            let words = TransportDiagnosis(
                code: diagnosis.code, message: "the server says \(status): it has too many connections")
            return .networkFailed(.connect, words)
        case CURLE_LOGIN_DENIED:
            return .authenticationFailed(status: status, hint: url.known.isSSH ? SSHKey.hint(onlyKey) : nil)
        case CURLE_REMOTE_FILE_NOT_FOUND where url.known == .scp:
            return .serverRefused(status: status, phrase: "no such file, or a folder")
        case CURLE_REMOTE_FILE_NOT_FOUND: return .serverRefused(status: status, phrase: "no such file")
        case CURLE_REMOTE_ACCESS_DENIED: return .serverRefused(status: status, phrase: "access denied")
        case CURLE_FTP_COULDNT_RETR_FILE:
            return .serverRefused(status: status, phrase: "the server does not send it: no such file, or no permission")
        case CURLE_FTP_WEIRD_PASV_REPLY, CURLE_FTP_WEIRD_227_FORMAT, CURLE_FTP_CANT_GET_HOST:
            return .networkFailed(.connect, diagnosis)
        // The server's key was refused. For the certificate of a proxy, libcurl returns the same code.
        case CURLE_PEER_FAILED_VERIFICATION where url.known.isSSH && remote.hostKey != nil:
            return .trustFailed(
                TransportDiagnosis(code: diagnosis.code, message: Self.refusal(of: remote.hostKey, at: url)))
        case CURLE_SSH:
            let words = "\(diagnosis.message); the connection ended, or this is not a readable file"
            return .networkFailed(.connectionLost, TransportDiagnosis(code: diagnosis.code, message: words))
        case CURLE_FAILED_INIT where url.known.isSSH && Self.isCutHandshake(diagnosis.message):
            return .networkFailed(.connectionLost, diagnosis)
        case CURLE_FTP_COULDNT_SET_TYPE, CURLE_FTP_WEIRD_PASS_REPLY, CURLE_FAILED_INIT, CURLE_QUOTE_ERROR,
            CURLE_FTP_PRET_FAILED:
            return .protocolViolated(.malformedReply(diagnosis.message))
        default: return nil
        }
    }

    private static func isReply(_ code: CURLcode) -> Bool {
        [
            CURLE_LOGIN_DENIED, CURLE_WEIRD_SERVER_REPLY, CURLE_REMOTE_ACCESS_DENIED, CURLE_FTP_COULDNT_RETR_FILE,
            CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_REMOTE_FILE_NOT_FOUND,
        ].contains(code)
    }

    /// Returns whether the SSH handshake was cut off. The numbers are libssh2's errors for a banner that does not
    /// come, and for sockets that fail or are closed. A server that has too many connections does not start a
    /// session.
    private static func isCutHandshake(_ message: String) -> Bool {
        guard let number = message.firstMatch(of: /ssh session: (-\d+)/)?.output.1 else { return false }
        return ["-1", "-2", "-3", "-7", "-9", "-13", "-43"].contains(number)
    }

    private static func refusal(of key: RemoteFile.HostKey?, at url: SourceURL) -> String {
        let place = url.port == 22 ? url.host : "[\(url.host)]:\(url.port)"
        let mark = key?.fingerprint.map { ", \($0)," } ?? ""
        if key?.isChanged == true {
            return
                "SSH: the key of \(place)\(mark) is not the one in known_hosts: somebody may be intercepting the connection; if it was "
                + "changed on purpose, remove the old one with ssh-keygen -R '\(place)'"
        }
        let scan = (url.port == 22 ? "" : "-p \(url.port) ") + url.host
        return
            "SSH: the key of \(place)\(mark) is not in known_hosts; compare it with what its owner says, then add it "
            + "with ssh-keyscan \(scan) >>~/.ssh/known_hosts"
    }
}

private func onHostKey(
    _ context: UnsafeMutableRawPointer?, _ key: dlm_host_key, _ bytes: UnsafePointer<CChar>?, _ count: Int
) -> Int32 {
    guard let context else { return 0 }
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    if key == DLM_HOST_KEY_KNOWN, transfer.trace == nil { return 1 }
    let fingerprint = bytes.flatMap { Fingerprint.sha256(UnsafeRawBufferPointer(start: $0, count: count)) }
    transfer.trace?.hostKey = fingerprint
    if key == DLM_HOST_KEY_KNOWN { return 1 }
    transfer.remote?.hostKey = RemoteFile.HostKey(isChanged: key == DLM_HOST_KEY_CHANGED, fingerprint: fingerprint)
    return 0
}

/// The fingerprint of a public key, in the format of OpenSSH.
enum Fingerprint {
    static func sha256(_ key: UnsafeRawBufferPointer) -> String? {
        guard let digest = dlm_digest_create("SHA256") else { return nil }
        defer { dlm_digest_free(digest) }
        var out = [UInt8](repeating: 0, count: 64)
        guard dlm_digest_update(digest, key.baseAddress, key.count) == 0, dlm_digest_finish(digest, &out) == 32 else {
            return nil
        }
        return "SHA256:" + Data(out.prefix(32)).base64EncodedString().replacing("=", with: "")
    }
}
