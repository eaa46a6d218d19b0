import CCurl
import DownloadCore
import Synchronization

/// The state that all engines of a transport share. Each engine uses it from its own thread.
final class SharedState: @unchecked Sendable {
    let authorities: CertificateAuthorities
    let logins: LoginFiles
    /// The rate limiter of all engines. A limit applies to the bytes of all engines together.
    let limiter = Mutex(BandwidthLimiter<ObjectIdentifier>())
    let origins = Mutex(OriginProtocols<CurlTransfer>())
    let roster = Mutex(EngineRoster())
    /// The origins that were sent Basic and asked for Digest.
    let digestOrigins = Mutex<Set<String>>([])
    let failedNames = Mutex(FailedNames())
    /// The share handle of libcurl for the DNS cache, TLS sessions and the public suffix list.
    let handle = dlm_share_create(1)
    /// A share handle without the DNS cache, for transfers that ask a name server of their own. Other transfers must
    /// not use the addresses from that server.
    let handleWithoutDNS = dlm_share_create(0)

    init(authorities: CertificateAuthorities, logins: LoginFiles) {
        self.authorities = authorities
        self.logins = logins
    }

    /// Frees the share handles. The last loop is gone by then, and with it every easy handle that used them.
    deinit {
        curl_share_cleanup(handle)
        curl_share_cleanup(handleWithoutDNS)
    }
}
