import Glibc

/// The decision whether http may be tried after https failed, for a URL that was given without a scheme.
package enum PlainFallback {
    /// Returns whether http may be tried. This is true only if no TLS connection was possible. A server whose
    /// certificate is refused, or that answers at all, supports https.
    package static func isAllowed(after error: DownloadError) -> Bool {
        switch error {
        case .networkFailed(.connect, let diagnosis):
            // This machine has no route to the server. http would not help, and the download waits for the network.
            return ![Int32(ENETUNREACH), Int32(EHOSTUNREACH), Int32(ENETDOWN)].contains(diagnosis.errno)
        case .networkFailed(.timedOut, let diagnosis):
            return ["Connection timed out", "Connection timeout", "SSL connection timeout", "Failed to connect"]
                .contains { diagnosis.message.hasPrefix($0) }
        case .networkFailed(.connectionLost, let diagnosis):
            // If a server without TLS closes the connection, libcurl's message has the name of the TLS call.
            return ["SSL_ERROR_SYSCALL", "SSL_connect", "unexpected eof", "Connection reset by peer in connection"]
                .contains { diagnosis.message.contains($0) }
        case .trustFailed(let diagnosis):
            return ["wrong version number", "packet length too long", "unknown protocol", "http request"]
                .contains { diagnosis.message.contains($0) }
        default: return false
        }
    }
}
