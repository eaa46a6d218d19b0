import CCurl
import DownloadCore
import Synchronization

/// The state that all engines of a transport share. Each engine uses it from its own thread.
final class SharedState: @unchecked Sendable {
    let authorities: CertificateAuthorities
    let logins: LoginFiles
    /// Whether the environment may name a proxy.
    let mayHaveProxy: Bool
    /// The rate limiter of all engines. A limit applies to the bytes of all engines together.
    let limiter = Mutex(BandwidthLimiter<ObjectIdentifier>())
    let origins = Mutex(OriginProtocols<CurlTransfer>())
    let roster = Mutex(EngineRoster())
    /// The origins that asked for Digest after a request with Basic.
    let digestOrigins = Mutex<Set<String>>([])
    /// The origins to which a transfer over HTTP/3 was lost. A network may let QUIC begin and then stop it, so they are
    /// asked over earlier versions.
    let originsWithoutHTTP3 = Mutex<Set<String>>([])
    let failedNames = Mutex(FailedNames())
    /// The libcurl share handle for the DNS cache, TLS sessions and the public suffix list.
    let handle = dlm_share_create(1)
    /// A share handle without the DNS cache, for transfers that ask a name server of their own. Other transfers must
    /// not use the addresses from that server.
    let handleWithoutDNS = dlm_share_create(0)

    init(environment: [String: String]) {
        authorities = CertificateAuthorities(environment: environment)
        logins = LoginFiles(environment: environment)
        mayHaveProxy = dlm_environment_has_proxy() != 0
    }

    /// Frees the share handles. The loops retain this object, so no loop and no easy handle uses the handles any more.
    deinit {
        curl_share_cleanup(handle)
        curl_share_cleanup(handleWithoutDNS)
    }
}
