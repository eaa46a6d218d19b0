import CCurl
import DownloadCore
import Glibc

extension DownloadError {
    /// Returns the download error for a libcurl code. If the error has a diagnosis, the diagnosis has the code and
    /// libcurl's message.
    static func transport(_ code: CURLcode, message: String, errno: Int32) -> DownloadError {
        let diagnosis = TransportDiagnosis(code: Int(code.rawValue), message: message, errno: errno)
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return .networkFailed(.nameResolution, diagnosis)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY:
            return .networkFailed(.connect, diagnosis)
        case CURLE_OPERATION_TIMEDOUT:
            return .networkFailed(.timedOut, diagnosis)
        // "... in chunked-encoding" in libcurl 7.88, "chunk hex-length ..." and others in 8.14.
        case CURLE_RECV_ERROR where message.contains("chunk"):
            return .protocolViolated(.malformedReply(message))
        case CURLE_RECV_ERROR where isRefusalOfClient(message), CURLE_SEND_ERROR where isRefusalOfClient(message):
            return .trustFailed(diagnosis)
        case CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_GOT_NOTHING, CURLE_SEND_ERROR,
            CURLE_RECV_ERROR, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR:
            return .networkFailed(.connectionLost, diagnosis)
        case CURLE_SSL_CONNECT_ERROR:
            // A handshake that the network cut off is a lost connection, not a failure of trust.
            let isCut = message.contains("SYSCALL") || message.contains("reset") || message.contains("eof")
            return isCut ? .networkFailed(.connectionLost, diagnosis) : .trustFailed(diagnosis)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            return .trustFailed(diagnosis)
        case CURLE_URL_MALFORMAT:
            return .requestInvalid(.malformedURL(message))
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
            return .protocolViolated(.malformedReply(message))
        case CURLE_BAD_FUNCTION_ARGUMENT:
            // libcurl 7.88 returns this code for a header line that it cannot parse as a field. Options cannot be the
            // cause, because they are checked when they are set.
            return .protocolViolated(
                .malformedReply("a header line without a name, or a continuation line without a line before it"))
        case CURLE_OUT_OF_MEMORY, CURLcode(rawValue: 100):
            // libcurl returns these codes for a header line beyond its size limit. 100 is CURLE_TOO_LARGE, which
            // libcurl has since 8.6.
            return .protocolViolated(.malformedReply("an answer too large for libcurl, or out of memory"))
        default:
            return .unexpected("libcurl error \(code.rawValue): \(message)")
        }
    }

    /// Returns whether the server refused the client's certificate. With TLS 1.3 the server checks the certificate
    /// after the handshake is complete for the client, so libcurl reports a failure to send or receive.
    private static func isRefusalOfClient(_ message: String) -> Bool {
        guard message.contains(" alert ") else { return false }
        return ["certificate", "unknown ca", "access denied"].contains { message.contains($0) }
    }

    /// Returns the download error for a libcurl code on a connection to a Unix socket. libcurl's own message would
    /// name a host that has no part in the connection.
    static func transport(
        _ code: CURLcode, unixSocket path: String, message: String, errno number: Int32
    ) -> DownloadError {
        // libcurl often gives no error number if the backlog of the socket is full, or if the socket closed while
        // libcurl connected. For a path that is too long, libcurl returns CURLE_COULDNT_RESOLVE_HOST.
        let number =
            switch code {
            case CURLE_COULDNT_CONNECT: number == 0 ? EAGAIN : number
            case CURLE_COULDNT_RESOLVE_HOST: ENAMETOOLONG
            default: Int32(0)
            }
        if number == 0 { return transport(code, message: message, errno: number) }
        let message = "cannot connect to \(path): \(String(cString: strerror(number)))"
        return .networkFailed(
            .connect, TransportDiagnosis(code: Int(CURLE_COULDNT_CONNECT.rawValue), message: message, errno: number))
    }
}
