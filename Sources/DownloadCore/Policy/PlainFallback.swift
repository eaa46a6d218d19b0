import Glibc

/// Whether a server that was asked over https, because nobody named a scheme, may be asked over http instead.
package enum PlainFallback {
    /// True only where no TLS connection could be made at all. A certificate that is refused, and any answer, is a
    /// server with https.
    package static func isAllowed(after error: DownloadError) -> Bool {
        switch error {
        case .networkFailed(.connect, let diagnosis):
            // This machine has no way to the server: over http it has none either, and the download waits for one.
            return ![Int32(ENETUNREACH), Int32(EHOSTUNREACH), Int32(ENETDOWN)].contains(diagnosis.errno)
        case .networkFailed(.timedOut, let diagnosis):
            return ["Connection timed out", "Connection timeout", "SSL connection timeout", "Failed to connect"]
                .contains { diagnosis.message.hasPrefix($0) }
        case .networkFailed(.connectionLost, let diagnosis):
            // libcurl names the TLS call in which a server closed that knows nothing of TLS.
            return ["SSL_ERROR_SYSCALL", "SSL_connect", "unexpected eof", "Connection reset by peer in connection"]
                .contains { diagnosis.message.contains($0) }
        case .trustFailed(let diagnosis):
            return ["wrong version number", "packet length too long", "unknown protocol", "http request"]
                .contains { diagnosis.message.contains($0) }
        default: return false
        }
    }
}

extension DownloadRequest {
    /// The server is given something with the request that others must not read.
    package var showsSecrets: Bool {
        credential != nil || http.body != nil || http.authentication != nil || http.signature != nil
            || !secretFiles.isEmpty || headers.contains(where: \.isSecret)
    }
}
