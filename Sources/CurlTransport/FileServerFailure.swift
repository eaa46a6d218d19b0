import CCurl
import DownloadCore

/// The failure of a transfer from a server that does not use HTTP, such as an FTP or SSH server.
struct FileServerFailure {
    private let code: CURLcode
    /// The reply code of an FTP server (RFC 959 section 4.2); 0 if there is none.
    private let status: Int
    private let diagnosis: TransportDiagnosis
    private let remote: RemoteFile
    private let url: SourceURL
    private let onlyKey: String?

    /// Returns nil for a transfer over HTTP.
    init?(_ code: CURLcode, _ easy: EasyHandle, of transfer: CurlTransfer) {
        guard let remote = transfer.remote else { return nil }
        self.code = code
        self.remote = remote
        url = transfer.request.url
        status = url.known.isFTP ? easy.number(CURLINFO_RESPONSE_CODE) : 0
        diagnosis = TransportDiagnosis(code: Int(code.rawValue), message: easy.message(code))
        onlyKey = easy.onlyKey
    }

    /// The error; nil if the code means the same as for HTTP servers.
    var error: DownloadError? {
        // After a 4yz reply another attempt may succeed (RFC 959 section 4.2.1). 421 means that the server has too
        // many connections already, or shuts down.
        if status == 421, isReply || code == CURLE_OPERATION_TIMEDOUT {
            return network(.connect, "the server says 421: it has too many connections, or is shutting down")
        }
        if (400..<500).contains(status), isReply {
            return network(.connectionLost, "the server says \(status): \(diagnosis.message)")
        }
        switch code {
        case CURLE_LOGIN_DENIED where remote.hasNoRoom:
            return network(.connect, "the server says \(status): it has too many connections")
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
            let message = refusal(of: remote.hostKey)
            return .trustFailed(TransportDiagnosis(code: diagnosis.code, message: message, isAboutHostKey: true))
        case CURLE_SSH:
            return network(
                .connectionLost, "\(diagnosis.message); the connection ended, or this is not a readable file")
        case CURLE_FAILED_INIT where url.known.isSSH && isCutHandshake:
            return .networkFailed(.connectionLost, diagnosis)
        case CURLE_FTP_COULDNT_SET_TYPE, CURLE_FTP_WEIRD_PASS_REPLY, CURLE_FAILED_INIT, CURLE_QUOTE_ERROR,
            CURLE_FTP_PRET_FAILED:
            return .protocolViolated(.malformedReply(diagnosis.message))
        default: return nil
        }
    }

    private func network(_ failure: NetworkFailure, _ message: String) -> DownloadError {
        .networkFailed(failure, TransportDiagnosis(code: diagnosis.code, message: message))
    }

    private var isReply: Bool {
        [
            CURLE_LOGIN_DENIED, CURLE_WEIRD_SERVER_REPLY, CURLE_REMOTE_ACCESS_DENIED, CURLE_FTP_COULDNT_RETR_FILE,
            CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_REMOTE_FILE_NOT_FOUND,
        ].contains(code)
    }

    /// Whether the SSH handshake was cut off. The numbers are libssh2's errors for a banner that cannot be exchanged,
    /// for a timeout, and for sockets that fail or are closed. A server that has too many connections does not start a
    /// session.
    private var isCutHandshake: Bool {
        guard let number = diagnosis.message.firstMatch(of: /ssh session: (-\d+)/)?.output.1 else { return false }
        return ["-1", "-2", "-3", "-7", "-9", "-13", "-43"].contains(number)
    }

    private func refusal(of key: RemoteFile.HostKey?) -> String {
        let place = url.port == 22 ? url.host : "[\(url.host)]:\(url.port)"
        let mark = key?.fingerprint.map { ", \($0)," } ?? ""
        if key?.isChanged == true {
            return
                "the key of \(place)\(mark) is not the one in known_hosts: somebody may be intercepting the connection; if it was "
                + "changed on purpose, remove the old one with ssh-keygen -R '\(place)'"
        }
        let scan = (url.port == 22 ? "" : "-p \(url.port) ") + url.host
        return
            "the key of \(place)\(mark) is not in known_hosts; compare it with what its owner says, then add it "
            + "with ssh-keyscan \(scan) >>~/.ssh/known_hosts"
    }
}
