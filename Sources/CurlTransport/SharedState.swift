import CCurl
import DownloadCore
import Synchronization

/// What the engines of a transport have in common; safe from each of their threads.
final class SharedState: @unchecked Sendable {
    let authorities: CertificateAuthorities
    let logins: LoginFiles
    /// Of all engines: a limit holds for what they move together.
    let limiter = Mutex(BandwidthLimiter<ObjectIdentifier>())
    let origins = Mutex(OriginProtocols<CurlTransfer>())
    let roster = Mutex(EngineRoster())
    /// The origins that asked for Digest where Basic was shown.
    let digestOrigins = Mutex<Set<String>>([])
    let failedNames = Mutex(FailedNames())
    /// DNS, TLS sessions and the public suffix list.
    let handle = dlm_share_create(1)
    /// The same without DNS: for those who ask a name server of their own, whose answers are nobody else's.
    let handleWithoutDNS = dlm_share_create(0)

    init(authorities: CertificateAuthorities, logins: LoginFiles) {
        self.authorities = authorities
        self.logins = logins
    }

    /// Every loop, and with it every handle that uses the share, has let go of this by then.
    deinit {
        curl_share_cleanup(handle)
        curl_share_cleanup(handleWithoutDNS)
    }
}
