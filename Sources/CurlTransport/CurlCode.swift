import CCurl
import DownloadCore
import Glibc

extension DownloadError {
    /// What libcurl's code means for a download. The code and libcurl's own words go along.
    static func transport(_ code: CURLcode, message: String, errno: Int32) -> DownloadError {
        let diagnosis = TransportDiagnosis(code: Int(code.rawValue), message: message, errno: errno)
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return .networkFailed(.nameResolution, diagnosis)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY:
            return .networkFailed(.connect, diagnosis)
        case CURLE_OPERATION_TIMEDOUT:
            return .networkFailed(.timedOut, diagnosis)
        case CURLE_RECV_ERROR where message.hasSuffix("in chunked-encoding"):
            return .protocolViolated(.malformedReply(message))
        case CURLE_RECV_ERROR where isRefusalOfClient(message), CURLE_SEND_ERROR where isRefusalOfClient(message):
            return .trustFailed(diagnosis)
        case CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_GOT_NOTHING, CURLE_SEND_ERROR,
            CURLE_RECV_ERROR, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR:
            return .networkFailed(.connectionLost, diagnosis)
        case CURLE_SSL_CONNECT_ERROR:
            // A handshake that the network cut is no matter of trust.
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
            // libcurl 7.88 says so of a header line that it cannot make a field of; options are checked when they are set.
            return .protocolViolated(
                .malformedReply("a header line without a name, or one that continues no line before it"))
        case CURLE_OUT_OF_MEMORY, CURLcode(rawValue: 100):
            // Of a header line beyond its limit; 100 is CURLE_TOO_LARGE, which libcurl has from 8.6 on.
            return .protocolViolated(.malformedReply("an answer too large for libcurl, or out of memory"))
        default:
            return .unexpected("libcurl error \(code.rawValue): \(message)")
        }
    }

    /// Over TLS 1.3 a server judges the client's certificate when the client believes the handshake to be done.
    private static func isRefusalOfClient(_ message: String) -> Bool {
        guard message.contains(" alert ") else { return false }
        return ["certificate", "unknown ca", "access denied"].contains { message.contains($0) }
    }

    /// The same for a connection to a Unix socket, where libcurl's own words name a host that has no part in it.
    static func transport(
        _ code: CURLcode, unixSocket path: String, message: String, errno number: Int32
    ) -> DownloadError {
        // Of a socket with a full backlog libcurl tells no number, of an address that is too long another code.
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
